/** The URI scheme of read-only Markdown documents with a plan that an agent presents. */
export const PLAN_SCHEME = 'parley-plan'

/** Maximum length of a URI. A plan whose URI would be longer, because of long session or tool call ids, isn't opened. Characters. */
const MAX_LENGTH = 8000

/** The plan that a document shows. */
export interface PlanPlace {
  /** the key of the plan's conversation */
  key: string
  toolCallId: string
}

/** The URI of the document with a plan; `undefined` if the ids are too long for a URI. */
export function planUri({ key, toolCallId }: PlanPlace): string | undefined {
  const uri = `${PLAN_SCHEME}:/Plan.md?${encodeURIComponent(JSON.stringify([key, toolCallId]))}`
  return uri.length > MAX_LENGTH ? undefined : uri
}

/** Reads the URI of a document with a plan; `undefined` for other documents. VS Code may spell the same URI differently. */
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
