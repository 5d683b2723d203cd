import { useMay } from '../asking/page-state.js';
import { address } from '../route.js';

const sections = [
  [address.configuration, 'Configuration', 'read'],
  [address.alerts, 'Alerts', 'read'],
  [address.quota, 'Request quota', 'read'],
  [address.tokens, 'Tokens', 'administer'],
  [address.auditLog, 'Audit log', 'administer'],
] as const;

/** Links to the pages about the installation, those that the caller may open. @param current address of this page */
export function Sections({ current }: { readonly current: string }) {
  const isAdministrator = useMay('administer');
  return (
    <nav class="sections" aria-label="Installation">
      {sections
        .filter(([, , right]) => right === 'read' || isAdministrator)
        .map(([to, words]) => (
          <a key={to} href={to} aria-current={to === current ? 'page' : undefined}>
            {words}
          </a>
        ))}
    </nav>
  );
}
