/**
 * The definitions of the official schemas of v1 and v2. They include unreleased parts, in addition to everything that is released. In the
 * bundle, `esbuild.mjs` omits what isn't checked, and what v2's schema has in common with v1's.
 */
import v1 from '@agentclientprotocol/sdk/schema/v1/schema.unstable.json' with { type: 'json' }
import v2 from '@agentclientprotocol/sdk/schema/v2/schema.unstable.json' with { type: 'json' }
import type { Definitions } from './json-schema.ts'

export const V1 = v1.$defs as unknown as Definitions
export const V2 = v2.$defs as unknown as Definitions
