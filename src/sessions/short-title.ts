import { linkedParts } from '../common/file-links.ts'

/** Length above which titles are cut after a word, in characters. */
const MAX_LENGTH = 50
/** A title without a space at or after this length is cut within a word, in characters. */
const MIN_LENGTH = 30
/** Maximum length of the part of a prompt that is read, in characters. */
const MAX_READ = 4000

/**
 * A title made from a prompt: its first sentence without markup, with names in place of paths and websites, at most 50
 * characters. `undefined` if there is no text.
 */
export function shortTitle(prompt: string): string | undefined {
  for (const line of prompt.slice(0, MAX_READ).split('\n')) {
    const words = withoutMarkup(line)
      .replace(mentionedFile, '@$1')
      .split(/(?<=\s)/)
      .map(word => linkedParts(word).map(named).join(''))
      .join('')
    const title = cut(firstSentence(words.trim()))
    if (title !== '') return title
  }
  return undefined
}

/** The form in which some agents replay the mention of a file, with its whole URI. */
const mentionedFile = /@file:\/\/\S*\/([^\s/]+)/g

/** The text of a line of Markdown. Rules, fences and comments have none. `__init__` is a name rather than bold. */
function withoutMarkup(line: string): string {
  if (/^\s*(?:```|~~~|<!--(?!.*-->)|-{3,}\s*$|={3,}\s*$)/.test(line)) return ''
  return line
    .replace(/^\s*<!--.*?-->/, '')
    .replace(/^\s*(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+/, '')
    .replace(/!?\[([^[\]]{1,200})\]\([^()\s]{0,400}\)/g, '$1')
    .replace(/`+([^`]+)`+/g, '$1')
    .replace(/(\*\*|~~)(?=\S)([^*~]+)\1/g, '$2')
}

/** A path's last part, if it looks like one and not like `and/or`, `2024/01/02`, `s/a/b/g` or `/command`; a website's host. */
function named({ text, href }: ReturnType<typeof linkedParts>[number]): string {
  if (href !== undefined) return URL.canParse(href) ? new URL(href).host || text : text
  const [, at = '', path = '', space = ''] = /^(@?)(.*?)(\s*)$/s.exec(text) ?? []
  const parts = path.split(/[\\/]/).filter(part => part !== '')
  const last = parts.at(-1) ?? ''
  const isPath =
    (parts.length > 2 && /\p{L}.*[\p{Ll}\p{Lo}]/u.test(last)) ||
    (parts.length > 1 && /^[~./\\]|^[a-z]:|\.\w+$/i.test(path))
  return isPath ? at + last + space : text
}

/** Returns the first sentence without its full stop or colon. A single word such as "Hi." or "Why?" doesn't count as a sentence. */
function firstSentence(line: string): string {
  const [sentence = line] = SENTENCE.exec(line) ?? []
  return sentence.replace(/[\s.:。：]+$/, '') || line
}

const SENTENCE = /^.*?(?:(?<=.{2})[。！？]|(?<=.{9})(?<!\b(?:e\.g|i\.e|etc|vs|cf|ca|no|\w))[.!?](?=\s|$))/

function cut(title: string): string {
  const letters = Array.from(title)
  if (letters.length <= MAX_LENGTH) return title
  const space = letters.lastIndexOf(' ', MAX_LENGTH)
  const end = space >= MIN_LENGTH ? space : MAX_LENGTH
  return `${letters
    .slice(0, end)
    .join('')
    .replace(/[\s,;:–-]+$/, '')}…`
}
