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

/** OpenAI's chat completions. */
export const openaiChat: Dialect = {
  full: {
    error: {
      message:
        "This model's maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
  },
  read(path, body) {
    if (!path.endsWith('/chat/completions')) return undefined
    const format = body.response_format as
      | { json_schema?: { schema?: JsonSchema }; type?: string }
      | undefined
    return {
      stream: body.stream === true,
      question: {
        messages: list(body.messages).map(readMessage),
        tools: list(body.tools).flatMap(({ function: tool }) => {
          const { name, parameters } = (tool ?? {}) as { name?: string; parameters?: JsonSchema }
          return name ? [{ name, schema: parameters ?? {} }] : []
        }),
        ...(format?.type?.startsWith('json') ? { answerSchema: format.json_schema?.schema ?? {} } : {}),
      },
    }
  },

  *stream(answer) {
    const id = nextId('chatcmpl')
    const event = (delta: object, finish: string | null = null, more: object = {}) =>
      `data: ${JSON.stringify({
        id,
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'mock-model',
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      })}\n\n`
    yield event({ role: 'assistant', content: '' })
    for (const thought of answer.thoughts) {
      yield event({ reasoning_content: thought })
      yield answer.pause
    }
    for (const text of answer.text) {
      yield event({ content: text })
      yield answer.pause
    }
    for (const [index, use] of answer.uses.entries()) {
      const call = { index, id: use.id, type: 'function', function: { name: use.name, arguments: '' } }
      yield event({ tool_calls: [call] })
      for (const piece of cut(JSON.stringify(use.arguments))) {
        yield event({ tool_calls: [{ index, function: { arguments: piece } }] })
      }
    }
    yield event({}, finishOf(answer), { usage: usage() })
    yield 'data: [DONE]\n\n'
  },

  whole(answer) {
    return {
      id: nextId('chatcmpl'),
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'mock-model',
      choices: [
        {
          index: 0,
          finish_reason: finishOf(answer),
          message: {
            role: 'assistant',
            content: answer.text.join(''),
            ...(answer.uses.length > 0
              ? {
                  tool_calls: answer.uses.map(use => ({
                    id: use.id,
                    type: 'function',
                    function: { name: use.name, arguments: JSON.stringify(use.arguments) },
                  })),
                }
              : {}),
          },
        },
      ],
      usage: usage(),
    }
  },
}

function readMessage(message: Record<string, unknown>): Message {
  const text = textOf(message.content)
  if (message.role === 'user') return { role: 'user', text }
  if (message.role === 'tool') return { role: 'result', text: JSON.stringify(message.content) }
  if (message.role === 'assistant' && list(message.tool_calls).length > 0) return { role: 'call', text }
  return { role: 'other', text }
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map(part => (typeof part.text === 'string' ? part.text : ''))
    .join('\n')
}

function finishOf(answer: Answer): string {
  return answer.uses.length > 0 ? 'tool_calls' : 'stop'
}

function usage(): object {
  const { input, output } = USAGE
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
