import * as l10n from '@vscode/l10n'
import { applyEdits, findNodeAtLocation, modify, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { isRecord } from '../common/is-record.ts'
import { hasTooManyTokens } from './too-many-tokens.ts'

/** A server as a file or setting contains it. */
type NewServer =
  | { type: 'http' | 'sse'; url: string }
  | { command: string; args?: string[]; env?: Record<string, string> }

export interface EnteredServer {
  /** A name to suggest. */
  name: string
  server: NewServer
}

/** The user's input as a URL or as a command line, which may start with `NAME=value`; `undefined` if it's neither. */
export function parseNewServer(text: string, platform: NodeJS.Platform): EnteredServer | undefined {
  const trimmed = text.trim()
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(trimmed)) {
    if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) return undefined
    const { hostname, pathname } = new URL(trimmed)
    const type = /\/sse\/?$/.test(pathname) ? 'sse' : 'http'
    return { name: nameOfHost(hostname), server: { type, url: trimmed } }
  }
  const words = splitWords(trimmed, platform)
  if (!words) return undefined
  const env: Record<string, string> = {}
  while (words[0] !== undefined) {
    const variable = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[0])
    if (!variable) break
    env[variable[1]!] = variable[2]!
    words.shift()
  }
  const [command, ...args] = words
  if (command === undefined || command === '') return undefined
  return {
    name: nameOfCommand(command, args),
    server: {
      command,
      ...(args.length > 0 && { args }),
      ...(Object.keys(env).length > 0 && { env }),
    },
  }
}

/**
 * Words as a shell splits them, with quotes but without anything else that shells do. A backslash is an ordinary character
 * on Windows, except before a quote. `undefined`: a quote isn't closed.
 */
function splitWords(text: string, platform: NodeJS.Platform): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const next = text[at + 1]
    const isEscape =
      character === '\\' &&
      quote !== "'" &&
      next !== undefined &&
      (next === '"' || (platform !== 'win32' && (quote === '' || next === '\\')))
    if (isEscape) {
      word = (word ?? '') + next
      at++
    } else if (quote !== '') {
      if (character === quote) quote = ''
      else word = (word ?? '') + character
    } else if (character === '"' || (character === "'" && platform !== 'win32')) {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== '') return undefined
  return word === undefined ? words : [...words, word]
}

/** `https://mcp.example.com` → `example` */
function nameOfHost(host: string): string {
  if (/^[\d.]+$|^\[/.test(host) || host === 'localhost') return 'local'
  const labels = host.split('.').filter(label => !/^(?:www|api|mcp)$/.test(label))
  return (labels.length > 1 ? labels.at(-2) : labels[0]) ?? host
}

/** `npx -y @scope/server-files@1` → `files` */
function nameOfCommand(command: string, args: readonly string[]): string {
  const lastName = (path: string) => path.replace(/^.*[\\/]/, '')
  const isRunner = /^(?:npx|bunx|uvx|pnpx|node|python3?|deno|bun)(?:\.\w+)?$/.test(lastName(command))
  const subject = (isRunner && args.find(arg => !arg.startsWith('-'))) || command
  const name = lastName(subject)
    .replace(/(?<=.)@.*$/, '')
    .replace(/\.(?:exe|cmd|[mc]?[jt]s|py)$/, '')
    .replace(/^(?:mcp-server|server|mcp)[-_]/, '')
    .replace(/[-_](?:mcp-server|server|mcp)$/, '')
  return name || 'server'
}

/** Adds a server to the user's value of `parley.mcpServers`, in the form that it has. */
export function addToSetting(value: unknown, name: string, server: NewServer): Record<string, unknown> {
  const setting = isRecord(value) ? value : {}
  const key = isRecord(setting.mcpServers) && !isRecord(setting.servers) ? 'mcpServers' : 'servers'
  const servers = setting[key]
  return { ...setting, [key]: { ...(isRecord(servers) ? servers : {}), [name]: server } }
}

/** Adds a server to the text of an `mcp.json`, whose comments stay. Throws a sentence if the text isn't valid. */
export function addToFile(text: string, name: string, server: NewServer): string {
  return withEntry(text.trim() === '' ? '{}' : text, ['servers', name], server)
}

/** Removes a server from the JSON of a file or setting, in whatever form it has. Throws a sentence if it isn't valid. */
export function removeFromText(text: string, name: string): string {
  const paths = [['servers', name], ['mcpServers', name], [name]]
  const isEntry = (node: Node | undefined, { length }: string[]) =>
    node && (length > 1 || ['command', 'url'].some(key => findNodeAtLocation(node, [key])))
  return paths.reduce(
    (json, path) =>
      isEntry(findNodeAtLocation(parse(json), path), path) ? withEntry(json, path, undefined) : json,
    text,
  )
}

function withEntry(text: string, path: string[], value: unknown): string {
  parse(text)
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const formattingOptions = { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: '\n' }
  return applyEdits(text, modify(text, path, value, { formattingOptions }))
}

function parse(text: string): Node {
  if (hasTooManyTokens(text)) throw new Error(l10n.t('The file has too many entries.'))
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || tree?.type !== 'object')
    throw new Error(l10n.t("The file isn't valid JSON. Fix it, then try again."))
  return tree
}
