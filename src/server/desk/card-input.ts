/** A card as a caller writes it: A2A fields, most of them optional, and three of ours. */
import { z } from 'zod';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { CardFields } from '../../core/work/card-fields.ts';
import { shape } from '../../wire/shape.ts';

const words = shape(() => z.array(z.string()).max(64).default([]));

const skill = shape(() =>
  z.object({
    id: z.string(),
    name: z.string().optional(),
    description: z.string().default(''),
    tags: words(),
    examples: words(),
    inputModes: words(),
    outputModes: words(),
  }),
);

const schema = shape(() =>
  z.strictObject({
    name: z.string().optional(),
    description: z.string().default(''),
    version: z.string().default('0'),
    supportedInterfaces: z
      .array(
        z.object({
          url: z.string(),
          protocolBinding: z.string(),
          protocolVersion: z.string(),
          tenant: z.string().nullish(),
        }),
      )
      .default([]),
    capabilities: z
      .object({
        streaming: z.boolean().default(false),
        pushNotifications: z.boolean().default(false),
        extendedAgentCard: z.boolean().default(false),
        extensions: words(),
      })
      .prefault({}),
    defaultInputModes: words(),
    defaultOutputModes: words(),
    // A bare word is a skill with nothing but its name.
    skills: z
      .array(z.union([z.string().transform((id) => skill().parse({ id })), skill()]))
      .default([]),
    provider: z.object({ organization: z.string(), url: z.string() }).nullish(),
    documentationUrl: z.string().nullish(),
    iconUrl: z.string().nullish(),
    task_classes: words(),
    model: z.string().nullish(),
    meta: z.record(z.string(), z.unknown()).nullish(),
  }),
);

export function parseCard(agent: string, card: Record<string, unknown>): CardFields | Refusal {
  const parsed = schema().safeParse(card);
  if (!parsed.success) {
    const violations = parsed.error.issues.map(({ path, message }) => ({
      field: ['card', ...path.map(String)].join('.'),
      issue: message,
    }));
    return refuse('input.invalid', `${violations[0]?.field} ${violations[0]?.issue}`, {
      violations,
    });
  }
  const { task_classes: taskClasses, meta, model, provider, ...rest } = parsed.data;
  return {
    ...rest,
    name: rest.name ?? agent,
    supportedInterfaces: rest.supportedInterfaces.map((one) => ({
      ...one,
      tenant: one.tenant ?? null,
    })),
    skills: rest.skills.map((one) => ({ ...one, name: one.name ?? one.id })),
    provider: provider ?? null,
    documentationUrl: rest.documentationUrl ?? null,
    iconUrl: rest.iconUrl ?? null,
    taskClasses,
    model: model ?? null,
    meta: meta == null ? null : JSON.stringify(meta),
  };
}
