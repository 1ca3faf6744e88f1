import type { Schemas } from '../../api/requests';

export const VISIBILITIES = ['Public', 'Private', 'Labelled', 'Tenant', 'After'] as const;

type Visibility = Schemas['PublishRequest']['visibility'];

export interface VisibilityDraft {
  visibility: (typeof VISIBILITIES)[number];
  agent: string[];
  label: string[];
  tenant: string;
  ttl: string;
}

/** The visibility that the fields describe. The service says what is missing in it. */
export function visibilityOf({ visibility: kind, agent, label, tenant, ttl }: VisibilityDraft): Visibility {
  switch (kind) {
    case 'Private':
      return { kind, agents: agent };
    case 'Labelled':
      return { kind, required_labels: label };
    case 'Tenant':
      return { kind, tenant_id: tenant === '' ? null : tenant };
    case 'After':
      return { kind, ttl };
    default:
      return { kind };
  }
}
