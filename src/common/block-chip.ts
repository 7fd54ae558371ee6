import { fileIcon } from './file-icon.ts'

/** What tells of a block of a prompt what it is. */
interface Block {
  type: string
  uri?: string
  name?: string
  title?: string
  mimeType?: string
}

export interface Chip {
  label: string
  /** codicon */
  icon: string
  /** tooltip */
  detail?: string
}

/** Where context comes from that is no file: `parley:` and one of these. */
export const CONTEXT_SCHEME = 'parley:'
const ICONS: Readonly<Record<string, string>> = {
  problems: 'warning',
  changes: 'git-compare',
  terminal: 'terminal',
  pasted: 'note',
}

/** How a block of a prompt is called on a chip. */
export function chipOf(block: Block): Chip {
  const { uri } = block
  switch (block.type) {
    case 'image':
      return { label: uri === undefined ? 'image' : nameIn(uri), icon: 'file-media', detail: block.mimeType }
    case 'audio':
      return { label: uri === undefined ? 'audio' : nameIn(uri), icon: 'unmute', detail: block.mimeType }
  }
  if (uri === undefined) return { label: block.name ?? block.type, icon: 'file' }
  if (uri.startsWith(CONTEXT_SCHEME)) {
    const kind = /^parley:([a-z]+)/.exec(uri)?.[1] ?? ''
    return { label: block.title ?? block.name ?? nameIn(uri), icon: ICONS[kind] ?? 'note' }
  }
  const named = block.title ?? block.name
  if (/^https?:/i.test(uri)) return { label: named ?? uri, icon: 'globe', detail: uri }
  const lines = /#L(\d+)(?:-L?(\d+))?$/i.exec(uri)
  const label = named ?? `${nameIn(uri)}${lines ? `:${lines[1]}${lines[2] ? `-${lines[2]}` : ''}` : ''}`
  const isFolder = /\/(#.*)?$/.test(uri)
  return {
    label,
    icon: isFolder ? 'folder' : lines ? 'list-selection' : fileIcon(nameIn(uri)),
    detail: readable(uri),
  }
}

/** The last name in a URI, as a person reads it. */
function nameIn(uri: string): string {
  const path = uri.replace(/[?#].*$/s, '').replace(/\/+$/, '')
  return readable(path.slice(path.search(/[^/:\\]*$/))) || uri
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
