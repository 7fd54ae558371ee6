import { readFileSync } from 'node:fs'

/** One step of a script of the fixture agent. */
export type Step = Record<string, unknown>

export const update = (sessionUpdate: string, fields: object): Step => ({
  update: { sessionUpdate, ...fields },
})
export const say = (text: string): Step => ({ say: text })
/** An answer with the Markdown of a file in `test/fixtures/screenshots`. */
export const sayFile = (name: string): Step =>
  say(readFileSync(new URL(`../fixtures/screenshots/${name}.md`, import.meta.url), 'utf8').trimEnd())
export const sayBlock = (content: object): Step => update('agent_message_chunk', { content })
export const text = (value: string) => ({ type: 'text', text: value })
export const think = (value: string): Step => update('agent_thought_chunk', { content: text(value) })

/** The content of a tool call. */
export const content = (block: object) => ({ type: 'content', content: block })
export const diff = (path: string, oldText: string, newText: string) => ({
  type: 'diff',
  path: `$cwd/${path}`,
  oldText,
  newText,
})

let calls = 0
export const call = (kind: string, title: string, more: object = {}): Step =>
  update('tool_call', { toolCallId: `call-${calls++}`, kind, title, status: 'completed', ...more })

/** A permission request. `options`: their names by kind. */
export const ask = (
  title: string,
  kind: string,
  options: Record<string, string>,
  more: object = {},
): Step => ({
  request: 'session/request_permission',
  params: {
    sessionId: '$session',
    toolCall: { toolCallId: `call-${calls++}`, title, kind, status: 'pending', ...more },
    options: Object.entries(options).map(([kind, name]) => ({ optionId: kind, name, kind })),
  },
})

export const elicit = (mode: 'form' | 'url', message: string, more: object): Step => ({
  request: 'elicitation/create',
  params: { sessionId: '$session', mode, message, ...more },
})

/** A config option. */
export const select = (
  id: string,
  name: string,
  category: string,
  choices: string[],
  currentValue = choices[0],
) => ({
  id,
  name,
  category,
  type: 'select',
  currentValue,
  options: choices.map(choice => ({ value: choice, name: choice })),
})

/** A command in a terminal of the agent's own; without an `exit` it still runs. */
export function terminal(id: string, title: string, output: string, exit?: object): Step[] {
  const meta = (_meta: object, more: object = {}) =>
    update('tool_call_update', { toolCallId: id, _meta, ...more })
  return [
    update('tool_call', {
      toolCallId: id,
      title,
      kind: 'execute',
      status: 'in_progress',
      content: [{ type: 'terminal', terminalId: id }],
      _meta: { terminal_info: { terminal_id: id, cwd: '$cwd' } },
    }),
    ...(output ? [meta({ terminal_output: { terminal_id: id, data: output } })] : []),
    ...(exit
      ? [meta({ terminal_exit: { terminal_id: id, signal: null, ...exit } }, { status: 'completed' })]
      : []),
  ]
}

/** A subagent and its state, of which `stopReason` and `error` are a part. */
export const subagent = (
  sessionId: string,
  state: 'running' | 'idle',
  { stopReason, error, ...more }: Record<string, unknown> = {},
): Step => update('subagent_update', { sessionId, state: { state, stopReason, error }, ...more })
/** The same step in another session, that of a subagent. */
export const within = (session: string, step: Step): Step => ({
  ...('say' in step ? sayBlock(text(step.say as string)) : step),
  session,
})
