import * as l10n from '@vscode/l10n'
import { isRecord } from '../../../common/is-record.ts'
import { frameViolations } from '../../schema/check-frame.ts'
import type { Frame } from '../agent-under-test.ts'
import { CheckFailed } from '../check-outcome.ts'
import type { ConformanceCheck } from '../conformance-check.ts'
import type { ProtocolVersion } from '../conformance-report.ts'

/** the maximum number of reported problems of one kind */
const MAX_PROBLEMS = 20
/** The number of frames to check before other work may run. */
const AT_ONCE = 100

/** Checks of everything that the agent has sent in the earlier checks. The first check ends the process. */
export const traffic: ConformanceCheck[] = [
  {
    id: 'exit',
    group: 'process',
    title: () => l10n.t('Exits when its input ends'),
    rule: () =>
      l10n.t(
        "The specification doesn't demand it, but clients end an agent by closing its input. A process that stays must be killed, and its children may not end.",
      ),
    section: 'transports#stdio',
    process: true,
    run: async run => {
      const agent = await run.agent()
      const { exit } = run.options.times
      if (!(await agent.exitsAtEndOfInput(exit)))
        throw new CheckFailed(l10n.t('The agent still runs {0} seconds after its input ended.', exit / 1000))
    },
  },
  {
    id: 'schema',
    group: 'messages',
    title: () => l10n.t('Sends only messages that follow the schema'),
    rule: () => l10n.t('Each message follows the schema of the protocol.'),
    section: 'schema',
    run: async run => {
      const found = new Map<string, number>()
      let checked = 0
      for (const { frames } of run.processes) {
        const version = versionIn(frames) ?? run.version
        for (const { direction, message, answers } of frames) {
          if (direction === 'send') continue
          // A response to an unknown request is reported elsewhere, as a problem with its id.
          const isOrphan = message.method === undefined && answers === undefined && message.id !== null
          if (isOrphan) continue
          for (const violation of frameViolations({ version, direction, message, answers })) {
            const key = `${shownName(message.method ?? answers)}: ${violation.replace(/\[\d+\]/g, '[…]')}`
            found.set(key, (found.get(key) ?? 0) + 1)
          }
          if (++checked % AT_ONCE === 0) await new Promise(setImmediate)
          run.options.signal.throwIfAborted()
        }
      }
      fail([...found].map(([violation, count]) => (count === 1 ? violation : `${violation} (${count}×)`)))
    },
  },
  {
    id: 'ids',
    group: 'messages',
    title: () => l10n.t('Uses the IDs of requests correctly'),
    rule: () => l10n.t('Each request is answered once, with its ID, and open requests have different IDs.'),
    section: 'https://www.jsonrpc.org/specification#response_object',
    run: async run => fail(run.processes.flatMap(({ idProblems }) => idProblems)),
  },
  {
    id: 'client-capabilities',
    group: 'messages',
    title: () => l10n.t("Requests only what the client's capabilities offer"),
    rule: () => l10n.t("The agent must not use files, terminals or questions that the client doesn't offer."),
    section: 'initialization#client-capabilities',
    run: async run => {
      const methods = run.processes.flatMap(({ frames }) =>
        frames.flatMap(({ direction, message }) =>
          direction === 'receive' && /^(fs|terminal|elicitation)\//.test(String(message.method))
            ? [String(message.method)]
            : [],
        ),
      )
      fail(
        [...new Set(methods)].map(method => l10n.t("The agent requested {0}, which wasn't offered.", method)),
      )
    },
  },
  {
    id: 'stdout',
    group: 'process',
    title: () => l10n.t('Writes nothing but messages to stdout'),
    rule: () => l10n.t("The agent must not write anything to stdout that isn't a message."),
    section: 'transports#stdio',
    process: true,
    run: async run => {
      const lines = run.processes.flatMap(({ noise }) => noise)
      fail([...new Set(lines)].map(line => l10n.t('A line on stdout: {0}', JSON.stringify(line))))
    },
  },
]

/** Returns the version that was negotiated in a process; `undefined` if it's neither 1 nor 2. */
function versionIn(frames: readonly Frame[]): ProtocolVersion | undefined {
  const { result } = frames.find(({ answers }) => answers === 'initialize')?.message ?? {}
  const version = isRecord(result) ? result.protocolVersion : undefined
  return version === 1 || version === 2 ? version : undefined
}

function fail(problems: string[]): void {
  if (problems.length === 0) return
  const shown = problems.slice(0, MAX_PROBLEMS)
  if (problems.length > MAX_PROBLEMS) shown.push(l10n.t('… and {0} more', problems.length - MAX_PROBLEMS))
  throw new CheckFailed(shown.join('\n'))
}

function shownName(method: unknown): string {
  return typeof method === 'string' ? method.slice(0, 100) : '?'
}
