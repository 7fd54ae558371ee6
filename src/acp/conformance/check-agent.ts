import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as l10n from '@vscode/l10n'
import { CancelledError, messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import { SecretRegistry } from '../../common/secrets.ts'
import type { ConnectOptions } from '../agent.ts'
import { redact } from '../redact.ts'
import { redactText } from '../redact-text.ts'
import { type AgentUnderTest, type Frame, NoAnswerError } from './agent-under-test.ts'
import { CheckFailed, NotChecked, NotOffered } from './check-outcome.ts'
import { errors } from './checks/errors.ts'
import { initialization } from './checks/initialization.ts'
import { cancellation, prompts } from './checks/prompts.ts'
import { newSessions, openedSessions } from './checks/sessions.ts'
import { traffic } from './checks/traffic.ts'
import type { ConformanceCheck } from './conformance-check.ts'
import type { CheckResult, ConformanceReport, ProtocolVersion, VersionReport } from './conformance-report.ts'
import { CHECK_PROMPTS, CHECK_TIMES, ConformanceRun, type RunOptions } from './conformance-run.ts'

/** All checks, in the order in which they run. */
export const CONFORMANCE_CHECKS: readonly ConformanceCheck[] = [
  ...initialization,
  ...newSessions,
  ...prompts,
  ...openedSessions,
  ...cancellation,
  ...errors,
  ...traffic,
]

/** The number of prompts that the checks send to an agent for each version. */
export const PROMPTS_SENT = 3

/** the maximum number of messages that explain a failure, and the maximum number of characters of each */
const MAX_TRAFFIC = 12
const MAX_TRAFFIC_LENGTH = 800
/** The ids of the checks that can give a result even if the agent couldn't be initialized. */
const WITHOUT_SESSION = new Set(['initialize', 'unknown-version', 'stdout'])

export interface CheckAgentOptions
  extends Omit<RunOptions, 'folder' | 'connect' | 'times' | 'prompts'>,
    Partial<Pick<RunOptions, 'times' | 'prompts'>> {
  connect: Omit<ConnectOptions, 'signal'>
  /** The protocol versions to check; both by default. */
  versions?: readonly ProtocolVersion[]
  withPrompts: boolean
  /** The ids of the checks to skip. */
  skip?: ReadonlySet<string>
  /** Called before each check. */
  onCheck?: (title: string, version: ProtocolVersion) => void
}

/**
 * Checks whether an agent follows the specification. The agent runs in an empty temporary folder, which is deleted afterward, and gets no
 * permissions, files or terminals. Leaves nothing running. Rejects with `CancelledError` when the signal aborts. Every failure of the agent
 * is in the report.
 */
export async function checkAgent(options: CheckAgentOptions): Promise<ConformanceReport> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-check-')))
  const { versions = [1, 2], withPrompts, launch } = options
  const secrets = options.connect.secrets ?? new SecretRegistry()
  const report: ConformanceReport = {
    agent: '',
    command: clean([launch.command, ...(launch.remote ? [] : launch.args)].join(' '), secrets),
    withPrompts,
    versions: [],
  }
  try {
    for (const version of versions) {
      const run = new ConformanceRun(version, {
        ...options,
        folder,
        connect: { ...options.connect, secrets },
        times: options.times ?? CHECK_TIMES,
        prompts: options.prompts ?? CHECK_PROMPTS,
      })
      try {
        report.versions.push(await checkVersion(run, options, secrets))
      } finally {
        await run.stop()
      }
      report.agent ||= clean(nameIn(run.initialized), secrets)
    }
  } catch (error) {
    if (options.signal.aborted) throw new CancelledError()
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
  }
  if (!report.versions.some(({ isSpoken }) => isSpoken))
    report.problem = l10n.t('The agent uses neither version 1 nor version 2 of the protocol.')
  // The results of an unsupported version matter only if the agent supports no version.
  else for (const one of report.versions) if (!one.isSpoken) one.results = []
  return report
}

async function checkVersion(
  run: ConformanceRun,
  { withPrompts, skip, onCheck, launch, signal }: CheckAgentOptions,
  secrets: SecretRegistry,
): Promise<VersionReport> {
  const results: CheckResult[] = []
  for (const check of CONFORMANCE_CHECKS) {
    if (check.only !== undefined && check.only !== run.version) continue
    onCheck?.(check.title(), run.version)
    const why = skip?.has(check.id)
      ? l10n.t('Skipped.')
      : check.prompts && !withPrompts
        ? l10n.t('It needs a prompt.')
        : check.process && launch.remote
          ? l10n.t('The agent is on a server.')
          : results.length > 0 && !run.initialized && !WITHOUT_SESSION.has(check.id)
            ? l10n.t("The agent couldn't be initialized.")
            : undefined
    const outcome = why === undefined ? await runCheck(check, run, secrets) : notChecked(why)
    signal.throwIfAborted()
    const { id, group } = check
    results.push({
      id,
      group,
      title: check.title(),
      rule: check.rule(),
      section: sectionUrl(check, run.version),
      ...outcome,
    })
  }
  return { version: run.version, isSpoken: run.initialized !== undefined, results }
}

type CheckOutcome = Pick<CheckResult, 'status' | 'detail' | 'traffic'>

const notChecked = (detail: string): CheckOutcome => ({ status: 'notChecked', detail })

async function runCheck(
  check: ConformanceCheck,
  run: ConformanceRun,
  secrets: SecretRegistry,
): Promise<CheckOutcome> {
  const seen = new Map(run.processes.map(process => [process, process.frames.length]))
  try {
    await check.run(run)
    return { status: 'passed' }
  } catch (error) {
    if (run.options.signal.aborted) throw error
    const detail = clean(messageOf(error), secrets)
    if (error instanceof NotOffered) return { status: 'notOffered' }
    if (error instanceof NotChecked) return notChecked(detail)
    const frames = run.processes.flatMap(process => process.frames.slice(seen.get(process) ?? 0))
    const lines = frames.slice(-MAX_TRAFFIC).map(frame => shownFrame(frame, secrets))
    const last = run.processes.at(-1)
    const stderr = error instanceof CheckFailed ? '' : stderrLine(last, secrets)
    // An agent that didn't answer may be stuck, so later checks get a new process.
    if (error instanceof NoAnswerError) await run.stop()
    return { status: 'failed', detail: [detail, stderr].filter(Boolean).join('\n'), traffic: lines }
  }
}

/** Returns the end of the agent's stderr as a line; empty if there is none. */
function stderrLine(agent: AgentUnderTest | undefined, secrets: SecretRegistry): string {
  const tail = clean(agent?.stderrTail.slice(-1000) ?? '', secrets)
  return tail === '' ? '' : l10n.t('stderr: {0}', tail)
}

function shownFrame({ direction, message, raw }: Frame, secrets: SecretRegistry): string {
  const shown = redact(message, { maxLength: MAX_TRAFFIC_LENGTH, secrets })
  const text = raw ?? secrets.redactJson(JSON.stringify(shown))
  return `${direction === 'send' ? '→' : '←'} ${text.length > MAX_TRAFFIC_LENGTH ? `${text.slice(0, MAX_TRAFFIC_LENGTH)}…` : text}`
}

function clean(text: string, secrets: SecretRegistry): string {
  return redactText(secrets.redact(text))
}

const SPECIFICATION = {
  1: 'https://agentclientprotocol.com/protocol/v1/',
  2: 'https://agentclientprotocol.com/protocol/v2/draft/',
}

function sectionUrl({ section }: ConformanceCheck, version: ProtocolVersion): string {
  return new URL(typeof section === 'string' ? section : section[version], SPECIFICATION[version]).href
}

function nameIn(initialized: Record<string, unknown> | undefined): string {
  const info = [initialized?.info, initialized?.agentInfo].find(isRecord) ?? {}
  return [info.title ?? info.name, info.version]
    .filter(part => typeof part === 'string')
    .join(' ')
    .slice(0, 200)
}
