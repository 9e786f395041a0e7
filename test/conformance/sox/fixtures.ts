/** The 67 fixtures, in the order of the sheet. */

import { ACK_NACK } from './fixtures/ack-nack.ts';
import { BACKPRESSURE } from './fixtures/backpressure.ts';
import { CHANNELS_COLLECT } from './fixtures/channels-collect.ts';
import { DMS } from './fixtures/dms.ts';
import { ERROR_ENVELOPES } from './fixtures/error-envelopes.ts';
import { GROUPS } from './fixtures/groups.ts';
import { IDEMPOTENCY } from './fixtures/idempotency.ts';
import { IDENTITY_VERIFICATION } from './fixtures/identity-verification.ts';
import { NAMESPACE_ISOLATION } from './fixtures/namespace-isolation.ts';
import { PLUGIN_CONTRACT } from './fixtures/plugin-contract.ts';
import { PRESENCE } from './fixtures/presence.ts';
import { REPLAY } from './fixtures/replay.ts';
import { SCHEMA_VALIDATION } from './fixtures/schema-validation.ts';
import { SEND_RECV_BASIC } from './fixtures/send-recv-basic.ts';
import { SEQUENCE_MONOTONICITY } from './fixtures/sequence-monotonicity.ts';
import { SUBSCRIPTIONS } from './fixtures/subscriptions.ts';
import { THREADING } from './fixtures/threading.ts';
import { VERSION_NEGOTIATION } from './fixtures/version-negotiation.ts';
import type { Story } from './story.ts';

export const FIXTURES: readonly Story[] = [
  ...ACK_NACK,
  ...BACKPRESSURE,
  ...CHANNELS_COLLECT,
  ...DMS,
  ...ERROR_ENVELOPES,
  ...GROUPS,
  ...IDEMPOTENCY,
  ...IDENTITY_VERIFICATION,
  ...NAMESPACE_ISOLATION,
  ...PLUGIN_CONTRACT,
  ...PRESENCE,
  ...REPLAY,
  ...SCHEMA_VALIDATION,
  ...SEND_RECV_BASIC,
  ...SEQUENCE_MONOTONICITY,
  ...SUBSCRIPTIONS,
  ...THREADING,
  ...VERSION_NEGOTIATION,
];
