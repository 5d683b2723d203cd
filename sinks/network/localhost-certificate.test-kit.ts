/**
 * A self-signed certificate for localhost and 127.0.0.1 with its key, for tests of TLS. It protects nothing, because
 * the key is public here. It is valid from 2020 to 2119, so that it is valid on every test machine.
 */
export const localhostCertificate = `-----BEGIN CERTIFICATE-----
MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHD8kunG0JOu3lMI
UQ3FtKgqBiNjqUby2teM4Nbn7ew7nfLibBvlFvYbixAyG5STDpXY8bhNuqpd3uRS
2SoEU/6jTjBMMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBRx2txLDAbgzTiVVNKPre7K/C2wcTAKBggqhkjOPQQD
AgNIADBFAiEAwhT/vjC+QAjVjST+ZaCDjALdzK7EjYrGv8y9p0x4wzsCIH+fBzsA
NWiPaAyf8LztbbnohDhf1NCooT3CKt3gg3Zz
-----END CERTIFICATE-----`;

export const localhostKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjwlyr0/FWNI9kJT6
BH4dS0tyaUd1eBspsb6Vg01l98yhRANCAARw/JLpxtCTrt5TCFENxbSoKgYjY6lG
8trXjODW5+3sO53y4mwb5Rb2G4sQMhuUkw6V2PG4TbqqXd7kUtkqBFP+
-----END PRIVATE KEY-----`;
