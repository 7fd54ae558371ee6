import {
  cut,
  type Dialect,
  type JsonSchema,
  list,
  type Message,
  nextId,
  type OfferedTool,
  USAGE,
} from './model.ts'
import { textOf } from './openai-chat.ts'

/** OpenAI's responses. */
export const openaiResponses: Dialect = {
  full: {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      param: 'input',
      code: 'context_length_exceeded',
    },
  },
  read(path, body) {
    if (!path.endsWith('/responses')) return undefined
    const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : list(body.input)
    const { format } = (body.text ?? {}) as { format?: { type?: string; schema?: JsonSchema } }
    return {
      stream: body.stream === true,
      question: {
        messages: readMessages(input),
        tools: readTools(list(body.tools)),
        ...(format?.type === 'json_schema' ? { answerSchema: format.schema ?? {} } : {}),
      },
    }
  },

  *stream(answer) {
    let number = 0
    const event = (type: string, fields: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`
    const response = {
      id: nextId('resp'),
      object: 'response',
      created_at: 1_700_000_000,
      status: 'in_progress',
      model: 'mock-model',
      output: [] as object[],
      parallel_tool_calls: true,
      tools: [],
      metadata: {},
    }
    const output: object[] = []
    yield event('response.created', { response })
    yield event('response.in_progress', { response })
    const done = (item: object) => {
      output.push(item)
      return event('response.output_item.done', { output_index: output.length - 1, item })
    }
    if (answer.thoughts.length > 0) {
      const at = { item_id: nextId('rs'), output_index: output.length, summary_index: 0 }
      const text = answer.thoughts.join('')
      const item = { id: at.item_id, type: 'reasoning', summary: [] as object[] }
      yield event('response.output_item.added', { output_index: at.output_index, item })
      const begun = { type: 'summary_text', text: '' }
      yield event('response.reasoning_summary_part.added', { ...at, part: begun })
      for (const thought of answer.thoughts) {
        yield event('response.reasoning_summary_text.delta', { ...at, delta: thought })
        yield answer.pause
      }
      yield event('response.reasoning_summary_text.done', { ...at, text })
      const part = { type: 'summary_text', text }
      yield event('response.reasoning_summary_part.done', { ...at, part })
      yield done({ ...item, summary: [part], encrypted_content: 'mock' })
    }
    if (answer.text.length > 0) {
      const at = { item_id: nextId('msg'), output_index: output.length, content_index: 0 }
      const item = { id: at.item_id, type: 'message', status: 'in_progress', role: 'assistant', content: [] }
      yield event('response.output_item.added', { output_index: at.output_index, item })
      yield event('response.content_part.added', {
        ...at,
        part: { type: 'output_text', text: '', annotations: [] },
      })
      for (const piece of answer.text) {
        yield event('response.output_text.delta', { ...at, delta: piece })
        yield answer.pause
      }
      const part = { type: 'output_text', text: answer.text.join(''), annotations: [] }
      yield event('response.output_text.done', { ...at, text: part.text })
      yield event('response.content_part.done', { ...at, part })
      yield done({ ...item, status: 'completed', content: [part] })
    }
    for (const use of answer.uses) {
      const at = { item_id: nextId('fc'), output_index: output.length }
      const whole = JSON.stringify(use.arguments)
      const item = {
        id: at.item_id,
        type: 'function_call',
        call_id: use.id,
        name: use.name,
        ...(use.namespace ? { namespace: use.namespace } : {}),
        arguments: '',
      }
      yield event('response.output_item.added', { output_index: at.output_index, item })
      for (const piece of cut(whole)) {
        yield event('response.function_call_arguments.delta', { ...at, delta: piece })
      }
      yield event('response.function_call_arguments.done', { ...at, arguments: whole })
      yield done({ ...item, status: 'completed', arguments: whole })
    }
    yield event('response.completed', {
      response: { ...response, status: 'completed', output, usage: usage() },
    })
  },

  whole(answer) {
    const part = { type: 'output_text', text: answer.text.join(''), annotations: [] }
    return {
      id: nextId('resp'),
      object: 'response',
      status: 'completed',
      model: 'mock-model',
      created_at: 1_700_000_000,
      output: [
        { id: nextId('msg'), type: 'message', status: 'completed', role: 'assistant', content: [part] },
      ],
      usage: usage(),
    }
  },
}

function readTools(tools: Array<Record<string, unknown>>, namespace?: string): OfferedTool[] {
  return tools.flatMap(({ type, name, parameters, tools: grouped }) => {
    if (typeof name !== 'string') return []
    if (type === 'namespace') return readTools(list(grouped), name)
    if (type !== 'function') return []
    return [{ name, schema: (parameters ?? {}) as JsonSchema, ...(namespace ? { namespace } : {}) }]
  })
}

/** Joins parallel calls into one message. */
function readMessages(input: Array<Record<string, unknown>>): Message[] {
  const messages: Message[] = []
  for (const item of input) {
    const type = String(item.type ?? '')
    if (type.endsWith('_call')) {
      if (messages.at(-1)?.role !== 'call') messages.push({ role: 'call', text: '' })
    } else if (type.endsWith('_call_output'))
      messages.push({ role: 'result', text: JSON.stringify(item.output) })
    else messages.push({ role: item.role === 'user' ? 'user' : 'other', text: textOf(item.content) })
  }
  return messages
}

function usage(): object {
  return {
    input_tokens: USAGE.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: USAGE.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: USAGE.input + USAGE.output,
  }
}
