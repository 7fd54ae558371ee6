/** Decides how to show the text of a tool call: most agents send plain output, although the specification demands Markdown. */
import type { ToolKind } from '../acp/model.ts'

/** The text of a tool call that isn't Markdown: a program's output, the content of a file, or data. */
export interface ToolOutput {
  text: string
  /** empty if no language is known */
  language: 'json' | ''
}

/** Kinds of tools whose text is output unless it's in a code fence. */
const OUTPUT_KINDS: ReadonlySet<ToolKind> = new Set<ToolKind>(['execute', 'read', 'search'])
/** Maximum length of a text that is parsed as JSON. Characters. */
const MAX_PARSED = 1_000_000

/**
 * Reads a text of a tool call; returns `undefined` if the text is Markdown. If `kind` is absent, only data and text with escape sequences
 * count as output.
 */
export function toolOutput(text: string, kind?: ToolKind): ToolOutput | undefined {
  if (/^\s*(?:`{3}|~{3}|$)/.test(text)) return undefined
  const json = formattedJson(text)
  if (json !== undefined) return { text: json, language: 'json' }
  const isOutput = (kind !== undefined && OUTPUT_KINDS.has(kind)) || text.includes('\u001b')
  return isOutput ? { text: withoutEscapes(text), language: '' } : undefined
}

/** Returns a text that is a JSON object or array, formatted on several lines. */
function formattedJson(text: string): string | undefined {
  if (text.length > MAX_PARSED || !/^\s*(?:\{[\s\S]*\}|\[[\s\S]*\])\s*$/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return text.trim().includes('\n') ? text : JSON.stringify(value, undefined, 2)
  } catch {
    return undefined
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g

/** Returns output without colors and other escape sequences of terminals. */
export function withoutEscapes(output: string): string {
  return output.includes('\u001b') ? output.replace(escapes, '') : output
}
