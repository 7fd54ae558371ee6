import { type Answer, type JsonSchema, nextId, type Question, type Step } from './model.ts'
import { SCENARIOS } from './scenarios.ts'
import { toolUseFor } from './tools.ts'

/** The answers to a prompt with this text. */
export interface Script {
  prompt: string
  steps: Step[]
}

/** The script's answer to a request. */
export function answer(
  question: Question,
  scripts: readonly Script[] = [],
): Answer & { scenario: string; step: number } {
  const plain = (scenario: string, text: string[]) => ({
    scenario,
    step: 0,
    thoughts: [],
    text,
    uses: [],
    pause: 0,
  })
  const scripted = newestScript(question, scripts)
  if (question.answerSchema) {
    // The agent asks for a title: use the start of the prompt.
    const title = scripted?.name.split(',')[0] ?? 'Mock title'
    return plain('(json)', [JSON.stringify(smallest(question.answerSchema, title))])
  }
  // A request without tools isn't part of the conversation. It may ask for a title, for example.
  if (question.tools.length === 0) return plain('(no tools)', ['Mock ', 'session ', 'title'])
  const tagged = scripted ?? newestTag(question)
  const steps = tagged?.steps
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
    after: step.after,
    isFull: step.isFull,
  }
}

interface Found {
  name: string
  steps: Step[] | undefined
  /** the message that contained it */
  at: number
}

function newestScript({ messages }: Question, scripts: readonly Script[]): Found | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    const script =
      message?.role === 'user' ? scripts.find(({ prompt }) => message.text.includes(prompt)) : undefined
    if (script) return { name: script.prompt, steps: script.steps, at }
  }
  return undefined
}

function newestTag({ messages }: Question): Found | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message?.role !== 'user') continue
    const tag = [...message.text.matchAll(/\[\[([a-z]+)(?:\s+([^\]]+))?\]\]/g)].at(-1)
    if (tag?.[1]) return { name: tag[1], steps: SCENARIOS[tag[1]]?.((tag[2] ?? process.cwd()).trim()), at }
  }
  return undefined
}

/** The smallest value that a schema accepts. */
function smallest(schema: JsonSchema, text: string): unknown {
  const type = String(Array.isArray(schema.type) ? schema.type[0] : schema.type).toLowerCase()
  if (schema.enum) return schema.enum.includes('user') ? 'user' : schema.enum[0]
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, smallest(property, text)]),
      )
    case 'array':
      return []
    case 'boolean':
      return false
    case 'number':
    case 'integer':
      return 1
    default:
      return text
  }
}
