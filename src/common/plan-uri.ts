/** Documents with a plan that an agent presents: read-only, as Markdown. */
export const PLAN_SCHEME = 'parley-plan'

/** Of agents that give their sessions and tool calls longer ids, no plan is opened. */
const MAX_LENGTH = 8000

/** The plan that a document shows. */
export interface PlanPlace {
  /** the key of its conversation */
  key: string
  toolCallId: string
}

/** `undefined` if the ids are too long for a URI. */
export function planUri({ key, toolCallId }: PlanPlace): string | undefined {
  const uri = `${PLAN_SCHEME}:/Plan.md?${encodeURIComponent(JSON.stringify([key, toolCallId]))}`
  return uri.length > MAX_LENGTH ? undefined : uri
}

/** `undefined` if it's no document with a plan. VS Code writes the same URI in other ways. */
export function planPlace(uri: string): PlanPlace | undefined {
  const [, query] = /^parley-plan:\/Plan\.md\?([^#]*)/.exec(uri) ?? []
  if (query === undefined) return undefined
  try {
    const ids: unknown = JSON.parse(decodeURIComponent(query))
    if (!Array.isArray(ids) || ids.length !== 2) return undefined
    const [key, toolCallId] = ids as unknown[]
    return typeof key === 'string' && typeof toolCallId === 'string' ? { key, toolCallId } : undefined
  } catch {
    return undefined
  }
}
