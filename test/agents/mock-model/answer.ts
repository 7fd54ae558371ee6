import { type Answer, type JsonSchema, nextId, type Question } from './model.ts'
import { SCENARIOS } from './scenarios.ts'
import { toolUseFor } from './tools.ts'

/** What the script has for a question. */
export function answer(question: Question): Answer & { scenario: string; step: number } {
  const plain = (scenario: string, text: string[]) => ({
    scenario,
    step: 0,
    thoughts: [],
    text,
    uses: [],
    pause: 0,
  })
  if (question.answerSchema) return plain('(json)', [JSON.stringify(smallest(question.answerSchema))])
  // A question without tools is about something beside the conversation, such as a title for it.
  if (question.tools.length === 0) return plain('(no tools)', ['Mock ', 'session ', 'title'])
  const tagged = newestTag(question)
  const steps = tagged && SCENARIOS[tagged.name]?.(tagged.workspace)
  if (!tagged || !steps) return plain('(no tag)', ['OK ', '(no scenario).'])
  const number = question.messages.slice(tagged.at + 1).filter(({ role }) => role === 'call').length
  const step = steps[Math.min(number, steps.length - 1)] ?? {}
  const text = [...(step.text ?? [])]
  const uses = (step.work ?? []).flatMap(work => {
    const use = toolUseFor(work, question.tools)
    if (!use) {
      text.push(`(There is no tool for ${work.do}: ${question.tools.map(({ name }) => name).join(', ')})`)
      return []
    }
    return [{ id: nextId('call'), ...use }]
  })
  return {
    scenario: tagged.name,
    step: number,
    thoughts: step.thoughts ?? [],
    text,
    uses,
    pause: step.pause ?? 2,
  }
}

function newestTag({ messages }: Question): { name: string; workspace: string; at: number } | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message?.role !== 'user') continue
    const tag = [...message.text.matchAll(/\[\[([a-z]+)(?:\s+([^\]]+))?\]\]/g)].at(-1)
    if (tag?.[1]) return { name: tag[1], workspace: (tag[2] ?? process.cwd()).trim(), at }
  }
  return undefined
}

/** The least value that a schema takes. */
function smallest(schema: JsonSchema): unknown {
  const type = String(Array.isArray(schema.type) ? schema.type[0] : schema.type).toLowerCase()
  if (schema.enum) return schema.enum.includes('user') ? 'user' : schema.enum[0]
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, smallest(property)]),
      )
    case 'array':
      return []
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return 1
    default:
      return 'Mock title'
  }
}
