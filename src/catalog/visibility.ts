/** Who may see an artifact, in the form of the wire (docs/api.md, "Visibility"). */
export type Visibility = LastingVisibility | { kind: 'After'; ttl: string; then?: LastingVisibility };

export type LastingVisibility =
  | { kind: 'Public' }
  | { kind: 'Private'; agents: string[] }
  | { kind: 'Labelled'; required_labels: string[] }
  | { kind: 'Tenant'; tenant_id: string | null };

export const PUBLIC: LastingVisibility = { kind: 'Public' };
