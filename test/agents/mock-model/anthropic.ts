import {
  type Answer,
  cut,
  type Dialect,
  type JsonSchema,
  list,
  type Message,
  nextId,
  USAGE,
} from './model.ts'
import { textOf } from './openai-chat.ts'

/** Anthropic's messages. */
export const anthropic: Dialect = {
  full: {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 214000 tokens > 200000 maximum' },
  },
  read(path, body) {
    if (!path.endsWith('/messages')) return undefined
    const format = (body.output_config as { format?: { schema?: JsonSchema } } | undefined)?.format
    return {
      stream: body.stream === true,
      question: {
        messages: list(body.messages).map(readMessage),
        tools: list(body.tools).flatMap(({ name, input_schema: schema }) =>
          typeof name === 'string' && schema ? [{ name, schema: schema as JsonSchema }] : [],
        ),
        ...(format && { answerSchema: format.schema ?? {} }),
      },
    }
  },

  *stream(answer) {
    const event = (type: string, content: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...content })}\n\n`
    let index = -1
    const begin = (block: object) => {
      index += 1
      return event('content_block_start', { index, content_block: block })
    }
    const add = (delta: object) => event('content_block_delta', { index, delta })
    const end = () => event('content_block_stop', { index })

    const message = { ...head(), content: [], stop_reason: null, usage: usage() }
    yield event('message_start', { message })
    if (answer.thoughts.length > 0) {
      yield begin({ type: 'thinking', thinking: '', signature: '' })
      for (const thinking of answer.thoughts) {
        yield add({ type: 'thinking_delta', thinking })
        yield answer.pause
      }
      yield add({ type: 'signature_delta', signature: 'bW9jaw==' })
      yield end()
    }
    if (answer.text.length > 0) {
      yield begin({ type: 'text', text: '' })
      for (const text of answer.text) {
        yield add({ type: 'text_delta', text })
        yield answer.pause
      }
      yield end()
    }
    for (const { id, name, arguments: input } of answer.uses) {
      yield begin({ type: 'tool_use', id, name, input: {} })
      for (const piece of cut(JSON.stringify(input)))
        yield add({ type: 'input_json_delta', partial_json: piece })
      yield end()
    }
    const delta = { stop_reason: reasonOf(answer), stop_sequence: null }
    yield event('message_delta', { delta, usage: { output_tokens: USAGE.output } })
    yield event('message_stop', {})
  },

  whole(answer) {
    return {
      ...head(),
      content: [
        { type: 'text', text: answer.text.join('') },
        ...answer.uses.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
      ],
      stop_reason: reasonOf(answer),
      usage: usage(),
    }
  },
}

function readMessage({ role, content }: Record<string, unknown>): Message {
  const text = textOf(content)
  const has = (type: string) => list(content).some(block => block.type === type)
  if (role === 'assistant') return { role: has('tool_use') ? 'call' : 'other', text }
  // the agent may add its own reminders to a result, but a prompt that joins the turn comes with one, too
  const isResult = has('tool_result') && !/\[\[[a-z]+/.test(text)
  return isResult ? { role: 'result', text: JSON.stringify(content) } : { role: 'user', text }
}

const head = () => ({
  id: nextId('msg'),
  type: 'message',
  role: 'assistant',
  model: 'mock-model',
  stop_sequence: null,
})

function reasonOf(answer: Answer): string {
  return answer.uses.length > 0 ? 'tool_use' : 'end_turn'
}

function usage(): object {
  return { input_tokens: USAGE.input, output_tokens: USAGE.output }
}
