import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Parser } from 'acorn'
import jsx from 'acorn-jsx'
import { transformSync } from 'esbuild'
import { projectDirectory } from '../host/paths.ts'

/** The properties of a syntax tree node that are used here: https://github.com/estree/estree, plus JSX. */
interface Node {
  type: string
  [field: string]: unknown
}

export interface SourceTexts {
  /** localized texts, each once */
  texts: Set<string>
  /** texts that users see but that aren't localized, or can't be: one line each, with the file */
  problems: string[]
}

const parser = Parser.extend(jsx())

/** JSX attributes whose value users see or hear. */
const shownAttributes = new Set(['title', 'label', 'aria-label', 'placeholder', 'alt', 'aria-description'])
/** Properties that VS Code shows. */
const shownProperties = new Set([
  ...['title', 'label', 'description', 'detail', 'placeHolder', 'placeholder', 'prompt', 'tooltip', 'text'],
])
/** Methods of VS Code that show texts. */
const shownCalls = /^(show(Error|Warning|Information)Message|setStatusBarMessage)$/
/** Texts that are the same in every language. */
const names = /^(Parley(: \p{Lu}.*)?|parley\.\w+)$/u

/** Reads every source file with texts for users, except the demo agent, which is in English like other agents. */
export function readSourceTexts(): SourceTexts {
  const found: SourceTexts = { texts: new Set(), problems: [] }
  const source = join(projectDirectory, 'src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !file.startsWith('demo-agent'))
    .sort()
  for (const file of files) new FileReader(relative(projectDirectory, join(source, file)), found).read()
  return found
}

/** Reads one source text, for the reader's own tests. */
export function readTexts(file: string, code: string): SourceTexts {
  const found: SourceTexts = { texts: new Set(), problems: [] }
  new FileReader(file, found).read(code)
  return found
}

class FileReader {
  readonly #file: string
  readonly #found: SourceTexts
  /** the enclosing functions */
  #depth = 0
  #code = ''

  constructor(file: string, found: SourceTexts) {
    this.#file = file.replaceAll('\\', '/')
    this.#found = found
  }

  read(source = readFileSync(join(projectDirectory, this.#file), 'utf8')): void {
    const loader = this.#file.endsWith('x') ? 'tsx' : 'ts'
    this.#code = transformSync(source, { loader, jsx: 'preserve', target: 'esnext' }).code
    this.#visit(parser.parse(this.#code, { ecmaVersion: 'latest', sourceType: 'module' }) as unknown as Node)
  }

  #visit(node: Node): void {
    const isFunction = /Function/.test(node.type) || node.type === 'MethodDefinition'
    if (isFunction) this.#depth++
    this.#look(node)
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) this.#visit(child)
    if (isFunction) this.#depth--
  }

  #look(node: Node): void {
    switch (node.type) {
      case 'CallExpression':
        this.#lookAtCall(node)
        break
      case 'JSXText':
        if (hasWords(node.value)) this.#problem(node, 'not looked up')
        break
      case 'JSXElement':
      case 'JSXFragment':
        for (const child of node.children as Node[])
          if (child.type === 'JSXExpressionContainer') this.#mustBeLookedUp(child.expression)
        break
      case 'JSXAttribute':
        this.#lookAtAttribute(node)
        break
      case 'Property':
        if (this.#isShownByCode && shownProperties.has(nameOf(node.key))) this.#mustBeLookedUp(node.value)
        break
    }
  }

  /** Whether the file is in a folder that passes texts to VS Code. */
  get #isShownByCode(): boolean {
    return /^src\/(app|workbench|sessions)\//.test(this.#file)
  }

  #lookAtAttribute(node: Node): void {
    if (!shownAttributes.has(nameOf(node.name))) return
    const value = node.value as Node | null
    this.#mustBeLookedUp(value?.type === 'JSXExpressionContainer' ? value.expression : value)
  }

  #lookAtCall(node: Node): void {
    const name = nameOf(node.callee)
    const args = node.arguments as Node[]
    if (name === 't' || name === 'plural') {
      // texts with parameters
      const own = this.#file === 'src/webview/l10n.ts'
      if (this.#depth === 0) this.#problem(node, 'looked up before the language is known')
      for (const arg of name === 't' ? args.slice(0, 1) : args.slice(1))
        if (!own || arg.type === 'Literal') this.#take(arg)
    } else if (shownCalls.test(name)) {
      for (const arg of args) this.#mustBeLookedUp(arg)
    }
  }

  #take(node: Node | undefined): void {
    if (node?.type === 'ConditionalExpression') {
      this.#take(node.consequent as Node)
      this.#take(node.alternate as Node)
      return
    }
    const text = node && textOf(node)
    if (text === undefined)
      this.#problem(node ?? { type: 'none' }, 'cannot be looked up: it is no plain text')
    else this.#found.texts.add(text)
  }

  /** Reports a text in a place where it's shown without translation. */
  #mustBeLookedUp(value: unknown): void {
    if (!isNode(value)) return
    switch (value.type) {
      case 'Literal':
        if (hasWords(value.value)) this.#problem(value, 'not looked up')
        break
      case 'TemplateLiteral':
        if ((value.quasis as Node[]).some(part => hasWords((part.value as { cooked: string }).cooked)))
          this.#problem(value, 'not looked up')
        break
      case 'ConditionalExpression':
        this.#mustBeLookedUp(value.consequent)
        this.#mustBeLookedUp(value.alternate)
        break
      case 'LogicalExpression':
        this.#mustBeLookedUp(value.right)
        break
    }
  }

  #problem(node: Node, why: string): void {
    const code = this.#code.slice(Number(node.start ?? 0), Number(node.end ?? 0)).trim()
    this.#found.problems.push(`${this.#file}: ${code.slice(0, 120)}: ${why}`)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The last part of a call's name, a property or an attribute. */
function nameOf(value: unknown): string {
  if (!isNode(value)) return ''
  if (value.type === 'MemberExpression') return nameOf(value.property)
  if (value.type === 'Literal') return String(value.value)
  return typeof value.name === 'string' ? value.name : ''
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  const parts = node.type === 'TemplateLiteral' ? (node.quasis as Array<{ value: { cooked: string } }>) : []
  return parts.length === 1 ? parts[0]?.value.cooked : undefined
}

/** Whether a text contains words: two adjacent letters that aren't a name. `$(name)` is a codicon. */
function hasWords(value: unknown): boolean {
  if (typeof value !== 'string') return false
  const words = value.replace(/\$\([\w~-]+\)/g, '').trim()
  return /\p{L}{2}/u.test(words) && !names.test(words)
}
