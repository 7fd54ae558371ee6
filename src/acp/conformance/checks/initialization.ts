import * as l10n from '@vscode/l10n'
import { isRecord } from '../../../common/is-record.ts'
import { frameViolations } from '../../schema/check-frame.ts'
import { CheckFailed } from '../check-outcome.ts'
import type { ConformanceCheck } from '../conformance-check.ts'

/** A protocol version that no agent supports. */
const UNKNOWN_VERSION = 65_535

export const initialization: ConformanceCheck[] = [
  {
    id: 'initialize',
    group: 'initialization',
    title: () => l10n.t('Answers initialize with the offered version'),
    rule: () => l10n.t('An agent that supports the requested version must answer with the same version.'),
    section: 'initialization#version-negotiation',
    run: async run => {
      await run.agent()
    },
  },
  {
    id: 'capabilities',
    group: 'initialization',
    title: () => l10n.t('Lists valid capabilities, its name and its ways to sign in'),
    rule: () => l10n.t('The answer to initialize follows the schema.'),
    section: { 1: 'initialization#agent-capabilities', 2: 'initialization#agent-capabilities' },
    run: async run => {
      await run.agent()
      const found = frameViolations({
        version: run.version,
        direction: 'receive',
        message: { jsonrpc: '2.0', id: 0, result: run.initialized },
        answers: 'initialize',
      })
      if (found.length > 0) throw new CheckFailed(found.join(' '))
    },
  },
  {
    id: 'unknown-version',
    group: 'initialization',
    title: () => l10n.t("Answers the offer of a version that doesn't exist yet with its latest one"),
    rule: () =>
      l10n.t(
        "An agent that doesn't support the requested version must answer with the latest one that it supports.",
      ),
    section: 'initialization#version-negotiation',
    run: async run => {
      const { result, error } = await run.initialize(await run.start(), UNKNOWN_VERSION)
      if (error) throw new CheckFailed(run.errorText('initialize', error))
      const version = isRecord(result) ? result.protocolVersion : undefined
      if (typeof version !== 'number' || version < run.version || version >= UNKNOWN_VERSION)
        throw new CheckFailed(
          l10n.t('The agent answered the offer of version {0} with {1}.', UNKNOWN_VERSION, String(version)),
        )
    },
  },
]
