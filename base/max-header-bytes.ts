/**
 * Maximum length of the headers of an answer. undici's default of 16 KiB is less than some servers send (cookies, content
 * policies). An answer whose headers are longer is lost, although the request took effect, and would be repeated without
 * end.
 */
export const maxHeaderBytes = 1024 * 1024;
