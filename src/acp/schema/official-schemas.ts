/**
 * The definitions of the official schemas, unreleased parts included, which contain all that is released. In the bundle,
 * `esbuild.mjs` leaves out what isn't checked, and what the second has in common with the first.
 */
import v1 from '@agentclientprotocol/sdk/schema/v1/schema.unstable.json' with { type: 'json' }
import v2 from '@agentclientprotocol/sdk/schema/v2/schema.unstable.json' with { type: 'json' }
import type { Definitions } from './json-schema.ts'

export const V1 = v1.$defs as unknown as Definitions
export const V2 = v2.$defs as unknown as Definitions
