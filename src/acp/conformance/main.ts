import { parseArgs } from 'node:util'
import { CancelledError, isCancelled, messageOf } from '../../common/errors.ts'
import { silentLogger } from '../../common/logger.ts'
import { findCommand } from '../../common/processes/spawn-process.ts'
import { SecretRegistry } from '../../common/secrets.ts'
import { isSecretKey } from '../redact-text.ts'
import { CONFORMANCE_CHECKS, checkAgent } from './check-agent.ts'
import { conforms, type ProtocolVersion } from './conformance-report.ts'
import { CHECK_PROMPTS, CHECK_TIMES } from './conformance-run.ts'
import { markdownReport, plainReport } from './report-text.ts'

const USAGE = `Checks whether an agent follows the Agent Client Protocol.

node out/check-agent.js [option…] -- command [argument…]

  --no-prompts             sends no prompt, so that no model is used; what needs one isn't checked
  --protocol 1|2           checks one version of the protocol; by default all that the agent uses
  --skip ID                doesn't make a check; can be repeated
  --sign-in ID             signs in by this method of the agent first
  --timeout SECONDS        how long to wait for an answer (60)
  --long-prompt TEXT       a prompt with a long answer, for an agent with a scripted model
  --permission-prompt TEXT a prompt for which such an agent asks for a permission
  --json, --markdown       prints the report as JSON or Markdown
  --list                   lists the checks

Exits with 0 if no check failed, 1 if one did, and 2 if nothing could be checked.
The agent runs in the current folder; its sessions get an empty temporary one, no permission, no files and no terminals.
`

class UsageError extends Error {}

function readArguments(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      allowNegative: true,
      options: {
        prompts: { type: 'boolean', default: true },
        protocol: { type: 'string' },
        skip: { type: 'string', multiple: true, default: [] },
        'sign-in': { type: 'string' },
        timeout: { type: 'string' },
        'long-prompt': { type: 'string', default: CHECK_PROMPTS.long },
        'permission-prompt': { type: 'string', default: CHECK_PROMPTS.permission },
        json: { type: 'boolean', default: false },
        markdown: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

async function main(argv: string[]): Promise<number> {
  const { values, positionals } = readArguments(argv)
  const print = (text: string) => process.stdout.write(text)
  if (values.help) {
    print(USAGE)
    return 0
  }
  if (values.list) {
    const checks = CONFORMANCE_CHECKS.map(check => ({
      id: check.id,
      title: check.title(),
      rule: check.rule(),
    }))
    print(
      values.json
        ? `${JSON.stringify(checks, undefined, 2)}\n`
        : checks.map(({ id, title, rule }) => `${id}: ${title}\n    ${rule}\n`).join(''),
    )
    return 0
  }
  const [command, ...args] = positionals
  if (command === undefined) throw new UsageError('The command of the agent is missing.')
  const { protocol, timeout } = values
  if (protocol !== undefined && protocol !== '1' && protocol !== '2')
    throw new UsageError(`There is no version ${protocol} of the protocol.`)
  const seconds = timeout === undefined ? CHECK_TIMES.request / 1000 : Number(timeout)
  if (!(seconds > 0 && seconds <= 86_400)) throw new UsageError('--timeout is a number of seconds.')
  const unknown = values.skip.find(id => !CONFORMANCE_CHECKS.some(check => check.id === id))
  if (unknown !== undefined) throw new UsageError(`There is no check ${unknown}. --list shows all.`)

  const { platform } = process
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const cwd = process.cwd()
  const found = await findCommand(command, { env, cwd, platform })
  if (!('path' in found)) throw new Error(`There is no command ${command}.`)
  const secrets = new SecretRegistry()
  for (const [name, value] of Object.entries(env)) if (isSecretKey(name)) secrets.add(value)
  const abort = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => abort.abort(new CancelledError()))
  const report = await checkAgent({
    launch: { command: found.path, args, env, cwd },
    connect: {
      clientInfo: { name: 'parley-check', title: 'Parley check', version: '1' },
      initializeTimeoutMs: seconds * 1000,
      maxFrameBytes: 64 * 1024 * 1024,
      log: silentLogger,
      secrets,
    },
    signal: abort.signal,
    withPrompts: values.prompts,
    ...(protocol !== undefined && { versions: [Number(protocol) as ProtocolVersion] }),
    skip: new Set(values.skip),
    ...(values['sign-in'] !== undefined && { signInMethod: values['sign-in'] }),
    times: { ...CHECK_TIMES, request: seconds * 1000, turn: Math.max(CHECK_TIMES.turn, seconds * 1000) },
    prompts: { ...CHECK_PROMPTS, long: values['long-prompt'], permission: values['permission-prompt'] },
    onCheck: (title, version) => {
      if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${version}: ${title}`)
    },
  })
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  print(
    values.json
      ? `${JSON.stringify(report, undefined, 2)}\n`
      : values.markdown
        ? markdownReport(report)
        : plainReport(report),
  )
  return conforms(report) ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  if (error instanceof UsageError) process.stderr.write(`\n${USAGE}`)
  process.exitCode = isCancelled(error) ? 130 : 2
}
