import { createScanner, type SyntaxKind } from 'jsonc-parser'
import { MAX_MCP_TOKENS } from '../common/limits.ts'

const EOF: SyntaxKind.EOF = 17

/** Whether a file with servers has so many tokens, also comments and line ends, that parsing it would block the editor. */
export function hasTooManyTokens(text: string, max = MAX_MCP_TOKENS): boolean {
  const scanner = createScanner(text)
  for (let count = 0; count < max; count++) if (scanner.scan() === EOF) return false
  return true
}
