import type { ContentBlock } from '../model.ts'

const CONTEXT = /^\s*<(session_context)>[\s\S]*<\/\1>\s*$/
const FUNCTION_RESPONSES = /^\s*(\[Function Response: [^\]\n]*\]\s*)+$/

/**
 * What some agents replay as if the person had said it, but told their model themselves (Gemini CLI): what they know of
 * the workspace, which becomes a resource that comes with the prompt, and that tools answered, which their calls show
 * already (`undefined`).
 */
export function withoutMachineText(content: ContentBlock): ContentBlock | undefined {
  if (content.type !== 'text') return content
  const { text } = content
  // Most of what is replayed is neither: look at the first character, not at all of it.
  const first = text.trimStart()[0]
  if (first === '[' && FUNCTION_RESPONSES.test(text)) return undefined
  const context = first === '<' ? CONTEXT.exec(text)?.[1] : undefined
  return context ? { type: 'resource', uri: context, mimeType: 'text/plain', text, agentOnly: true } : content
}

const MODE_NOTE = /^\[MODE_UPDATE\] (\S+)$/

/** The mode that an agent says it is in now, where it says so only in words for another client (Gemini CLI). */
export function modeInText(content: ContentBlock): string | undefined {
  return content.type === 'text' && content.text.startsWith('[MODE')
    ? MODE_NOTE.exec(content.text)?.[1]
    : undefined
}

const FILES = '\n--- Content from referenced context ---\nContent from @'
const FILE = /\nContent from @([^\n]+):\n/

/**
 * A prompt as some agents replay it (Gemini CLI): in one text, with that of the files which came with it at its end.
 * The files are resources beside the words.
 */
export function withFilesApart(content: ContentBlock): ContentBlock[] {
  const at = content.type === 'text' ? content.text.indexOf(FILES) : -1
  if (content.type !== 'text' || at < 0) return [content]
  const [, ...files] = content.text.slice(at).split(FILE)
  const blocks: ContentBlock[] = at > 0 ? [{ ...content, text: content.text.slice(0, at) }] : []
  for (let i = 0; i + 1 < files.length; i += 2) {
    const [uri = '', text = ''] = files.slice(i)
    blocks.push({ type: 'resource', uri, mimeType: 'text/plain', text })
  }
  return blocks.length > 0 ? blocks : [content]
}
