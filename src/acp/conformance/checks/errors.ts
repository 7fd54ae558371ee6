import * as l10n from '@vscode/l10n'
import { RpcCode } from '../../errors.ts'
import { type AgentUnderTest, NoAnswerError } from '../agent-under-test.ts'
import { CheckFailed } from '../check-outcome.ts'
import type { ConformanceCheck } from '../conformance-check.ts'
import type { ConformanceRun } from '../conformance-run.ts'

const JSON_RPC = 'https://www.jsonrpc.org/specification'
const UNKNOWN = '_parley/check'

export const errors: ConformanceCheck[] = [
  {
    id: 'unknown-method',
    group: 'errors',
    title: () => l10n.t('Answers an unknown method with the error -32601'),
    rule: () =>
      l10n.t('A request whose method the agent doesn\'t know is answered with "Method not found" (-32601).'),
    section: 'extensibility#custom-requests',
    run: async run => {
      await expectError(run, UNKNOWN, {}, RpcCode.methodNotFound)
    },
  },
  {
    id: 'invalid-params',
    group: 'errors',
    title: () => l10n.t('Answers invalid parameters with the error -32602'),
    rule: () => l10n.t('A request with invalid parameters is answered with "Invalid params" (-32602).'),
    section: `${JSON_RPC}#error_object`,
    run: async run => {
      await expectError(run, 'session/new', { cwd: 42, mcpServers: 'none' }, RpcCode.invalidParams)
    },
  },
  {
    id: 'unknown-session',
    group: 'errors',
    title: () => l10n.t('Answers a prompt for an unknown session with an error'),
    rule: () => l10n.t("A request for a session that doesn't exist is answered with an error."),
    section: { 1: 'prompt-turn#1-user-message', 2: 'error#unknown-sessions' },
    prompts: true,
    run: async run => {
      const prompt = [{ type: 'text', text: run.options.prompts.reply }]
      await expectError(run, 'session/prompt', { sessionId: 'parley-check-no-session', prompt })
    },
  },
  {
    id: 'unknown-notification',
    group: 'errors',
    title: () => l10n.t('Ignores an unknown notification'),
    rule: () => l10n.t('Notifications are never answered, and unknown ones are ignored.'),
    section: 'extensibility#custom-notifications',
    run: run => expectSilence(run, agent => agent.notify(UNKNOWN, { check: true })),
  },
  {
    id: 'unknown-response',
    group: 'errors',
    title: () => l10n.t('Ignores a response that belongs to no request'),
    rule: () => l10n.t('Responses are never answered, and one without a request is ignored.'),
    section: `${JSON_RPC}#response_object`,
    run: run => expectSilence(run, agent => agent.respond('parley-check-no-request', {})),
  },
  {
    id: 'malformed-json',
    group: 'errors',
    title: () => l10n.t("Survives a line that isn't valid JSON"),
    rule: () =>
      l10n.t(
        'What can\'t be parsed is answered with "Parse error" (-32700) or ignored; the connection stays.',
      ),
    section: `${JSON_RPC}#error_object`,
    process: true,
    run: async run => {
      const agent = await run.agent()
      const from = agent.frames.length
      agent.write('{"jsonrpc":"2.0","id":"parley-check-malformed","method":')
      await expectAlive(run, agent)
      const answer = agent.frames.slice(from).find(({ message }) => message.id === null)
      if (answer && (answer.message.error as { code?: unknown } | undefined)?.code !== RpcCode.parseError)
        throw new CheckFailed(
          l10n.t('The line was answered, but not with the error {0}.', RpcCode.parseError),
        )
    },
  },
]

/** Sends a request that must be answered with an error. */
async function expectError(
  run: ConformanceRun,
  method: string,
  params: object,
  code?: number,
): Promise<void> {
  const agent = await run.agent()
  const { error } = await agent.request(method, params, run.options.times.request, true)
  if (!error) throw new CheckFailed(l10n.t('{0} was answered with a result instead of an error.', method))
  if (code !== undefined && error.code !== code)
    throw new CheckFailed(
      l10n.t('{0} was answered with the error {1} instead of {2}.', method, String(error.code), code),
    )
}

/** Sends messages that the agent must ignore, and fails if the agent answers. */
async function expectSilence(run: ConformanceRun, send: (agent: AgentUnderTest) => void): Promise<void> {
  const agent = await run.agent()
  const from = agent.frames.length
  const problems = agent.idProblems.length
  send(agent)
  await expectAlive(run, agent)
  const isAnswer = agent.frames
    .slice(from)
    .some(
      ({ direction, answers, message }) =>
        direction === 'receive' && !answers && message.method === undefined,
    )
  // An answer is reported here, and must not be reported again as a problem with an id.
  agent.idProblems.length = problems
  if (isAnswer) throw new CheckFailed(l10n.t("The agent answered what isn't a request."))
}

/** Checks that the agent still answers, even if only with an error. */
async function expectAlive(run: ConformanceRun, agent: AgentUnderTest): Promise<void> {
  try {
    await agent.request(UNKNOWN, {}, run.options.times.request)
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error
    // An agent that ignores unknown methods may still answer `session/new`.
    await agent.request('session/new', run.setup, run.options.times.request)
  }
}
