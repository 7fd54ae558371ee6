import { type Answer, type Dialect, type JsonSchema, list, type Message, USAGE } from './model.ts'

/** Gemini's generateContent. */
export const gemini: Dialect = {
  full: {
    error: {
      code: 400,
      message: 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
      status: 'INVALID_ARGUMENT',
    },
  },
  read(path, body) {
    const match = /:(stream)?generateContent$/i.exec(path)
    if (!match) return undefined
    const config = (body.generationConfig ?? {}) as Record<string, unknown>
    const schema = (config.responseJsonSchema ?? config.responseSchema) as JsonSchema | undefined
    const wantsJson = schema !== undefined || config.responseMimeType === 'application/json'
    return {
      stream: match[1] !== undefined,
      question: {
        messages: list(body.contents).map(readMessage),
        tools: list(body.tools).flatMap(group =>
          list(group.functionDeclarations).flatMap(({ name, parametersJsonSchema, parameters }) =>
            typeof name === 'string'
              ? [{ name, schema: (parametersJsonSchema ?? parameters ?? {}) as JsonSchema }]
              : [],
          ),
        ),
        ...(wantsJson ? { answerSchema: schema ?? {} } : {}),
      },
    }
  },

  *stream(answer) {
    const event = (parts: object[], finishReason?: string) =>
      `data: ${JSON.stringify(response(parts, finishReason))}\r\n\r\n`
    for (const thought of answer.thoughts) {
      yield event([{ thought: true, text: thought }])
      yield answer.pause
    }
    for (const text of answer.text) {
      yield event([{ text }])
      yield answer.pause
    }
    for (const use of answer.uses) yield event([call(use)])
    yield event([{ text: '' }], 'STOP')
  },

  whole(answer) {
    return response([{ text: answer.text.join('') }, ...answer.uses.map(call)], 'STOP')
  },
}

function readMessage(content: Record<string, unknown>): Message {
  const parts = list(content.parts)
  const text = parts.map(part => (typeof part.text === 'string' ? part.text : '')).join('\n')
  if (content.role === 'model')
    return { role: parts.some(part => part.functionCall) ? 'call' : 'other', text }
  return parts.some(part => part.functionResponse)
    ? { role: 'result', text: JSON.stringify(parts) }
    : { role: 'user', text }
}

function call(use: Answer['uses'][number]): object {
  return { functionCall: { id: use.id, name: use.name, args: use.arguments } }
}

function response(parts: object[], finishReason?: string): object {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }],
    modelVersion: 'mock-model',
    responseId: 'mock',
    usageMetadata: {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      totalTokenCount: USAGE.input + USAGE.output,
    },
  }
}
