import { codeFence } from '../../common/code-fence.ts'
import { sourceOf } from '../rich/rich-source.ts'

/**
 * Returns the selection as Markdown; `undefined` for a part of a paragraph or a code block, where the browser's copied text
 * is fine.
 */
export function selectedMarkdown(selection: Selection): string | undefined {
  if (selection.isCollapsed || selection.rangeCount === 0) return undefined
  const range = selection.getRangeAt(0)
  const within = elementOf(range.commonAncestorContainer)
  if (within.closest('pre, input, textarea, .cm-editor, .terminal, .diff, .code-lines')) return undefined
  takeWhole(range)
  const fragment = range.cloneContents()
  if (!fragment.querySelector(structure)) return undefined
  return toMarkdown(fragment)
}

const structure = 'p, li, pre, table, h1, h2, h3, h4, h5, h6, blockquote, .math, .diagram'

function elementOf(node: Node): Element {
  return node instanceof Element ? node : node.parentElement!
}

/** Extends the range to whole formulas, since a part of a formula can't be copied. */
function takeWhole(range: Range): void {
  const start = elementOf(range.startContainer).closest('.math')
  const end = elementOf(range.endContainer).closest('.math')
  if (start) range.setStartBefore(start)
  if (end) range.setEndAfter(end)
}

/** Converts rendered prose back to Markdown. */
export function toMarkdown(root: Node): string {
  return blocks(root)
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

const blockTags = /^(?:P|DIV|UL|OL|LI|PRE|TABLE|H[1-6]|BLOCKQUOTE|DETAILS|SUMMARY|HR|DL|DT|DD)$/
const notCopied =
  '.code-bar, .row-actions, .subagent-name, .visually-hidden, script, style, .codicon:not(.task-box)'

/** Returns the blocks of a node as Markdown, each followed by an empty line; text between blocks becomes a paragraph. */
function blocks(node: Node): string {
  let text = ''
  let line = ''
  const flush = () => {
    if (line.trim() !== '') text += `${line.trim()}\n\n`
    line = ''
  }
  for (const child of node.childNodes) {
    if (child instanceof Element && blockTags.test(child.tagName)) {
      flush()
      text += block(child)
    } else line += inline(child)
  }
  flush()
  return text
}

function block(element: Element): string {
  if (element.matches(notCopied)) return ''
  if (element.matches('.footnote')) return footnote(element as HTMLElement)
  if (element.matches('.diagram')) return `\`\`\`mermaid\n${sourceOf(element as HTMLElement)}\n\`\`\`\n\n`
  const { tagName } = element
  if (/^H[1-6]$/.test(tagName)) return `${'#'.repeat(Number(tagName[1]))} ${inlines(element).trim()}\n\n`
  switch (tagName) {
    case 'P':
    case 'SUMMARY':
    case 'DT':
      return `${inlines(element).trim()}\n\n`
    case 'PRE':
      return fence(element)
    case 'UL':
    case 'OL':
      return `${list(element)}\n`
    case 'LI':
      return `- ${indented(blocks(element).trim(), 2)}\n`
    case 'BLOCKQUOTE':
      return `${blocks(element).trim().replace(/^/gm, '> ')}\n\n`
    case 'TABLE':
      return `${table(element)}\n`
    case 'HR':
      return '---\n\n'
    default:
      return blocks(element)
  }
}

function footnote(element: HTMLElement): string {
  const content = element.lastElementChild ? blocks(element.lastElementChild).trim() : ''
  return `[^${element.dataset.footnote}]: ${indented(content, 4)}\n\n`
}

function fence(pre: Element): string {
  const code = (pre.textContent ?? '').replace(/\n$/, '')
  const language = pre.closest<HTMLElement>('.code-block')?.dataset.language ?? ''
  const marks = codeFence(code)
  return `${marks}${language}\n${code}\n${marks}\n\n`
}

function list(element: Element): string {
  let number = Number(element.getAttribute('start') ?? 1)
  let text = ''
  for (const item of element.children) {
    if (item.tagName !== 'LI') continue
    const mark = element.tagName === 'OL' ? `${number++}. ` : '- '
    const content = blocks(item)
      .trim()
      .replace(/\n\n(?=(?:-|\d+\.) )/g, '\n')
    text += `${mark}${indented(content, mark.length)}\n`
  }
  return text
}

function indented(text: string, by: number): string {
  return text.replace(/\n(?=[^\n])/g, `\n${' '.repeat(by)}`)
}

function table(element: Element): string {
  const rows = [...element.querySelectorAll('tr')].map(row =>
    [...row.children].map(cell => inlines(cell).trim().replaceAll('|', '\\|').replaceAll('\n', ' ')),
  )
  const width = Math.max(0, ...rows.map(row => row.length))
  const line = (cells: readonly string[]) =>
    `| ${Array.from({ length: width }, (_, i) => cells[i] ?? '').join(' | ')} |\n`
  const [head, ...rest] = rows
  if (!head) return ''
  const cells = element.querySelector('tr')?.children
  const rules = Array.from({ length: width }, (_, i) => ruleOf(cells?.[i]))
  return line(head) + line(rules) + rest.map(line).join('')
}

/** Returns the Markdown delimiter (`:--`) for the alignment of a column. */
function ruleOf(head: Element | undefined): string {
  if (head?.classList.contains('align-center')) return ':-:'
  if (head?.classList.contains('align-right')) return '--:'
  return head?.classList.contains('align-left') ? ':--' : '---'
}

function inlines(node: Node): string {
  return [...node.childNodes].map(inline).join('')
}

function inline(node: Node): string {
  if (node instanceof Text) return node.data.replace(/\s+/g, ' ')
  if (!(node instanceof Element)) return ''
  if (node.matches('.task-box')) return node.classList.contains('codicon-pass-filled') ? '[x] ' : '[ ] '
  if (node.matches(notCopied)) return ''
  if (node.matches('.math')) return formula(node as HTMLElement)
  if (blockTags.test(node.tagName)) return blocks(node)
  switch (node.tagName) {
    case 'STRONG':
    case 'B':
      return around('**', inlines(node))
    case 'EM':
    case 'I':
      return around('*', inlines(node))
    case 'S':
    case 'DEL':
      return around('~~', inlines(node))
    case 'CODE':
      return around('`', node.textContent ?? '')
    case 'BR':
      return '\n'
    case 'IMG':
      return `[${node.getAttribute('alt') || 'image'}]`
    case 'SUP':
      if (node.matches('.footnote-mark')) return `[^${node.textContent}]`
      return inlines(node)
    case 'A': {
      const href = node.getAttribute('href') ?? ''
      const text = inlines(node)
      return href === '' || href === '#' || href === text ? text : `[${text}](${href})`
    }
    default:
      return inlines(node)
  }
}

function around(mark: string, text: string): string {
  const inner = text.trim()
  if (inner === '') return text
  return text.replace(inner, () => `${mark}${inner}${mark}`)
}

function formula(element: HTMLElement): string {
  const source = sourceOf(element)
  if (!element.classList.contains('math-display')) return `$${source}$`
  return source.includes('\n') ? `$$\n${source}\n$$` : `$$${source}$$`
}
