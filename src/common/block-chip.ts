/** The fields of a content block that its chip shows. */
interface Block {
  type: string
  uri?: string
  name?: string
  title?: string
  mimeType?: string
}

export interface Chip {
  label: string
  /** name of the codicon */
  icon: string
  /** tooltip */
  detail?: string
}

/** The URI scheme of context that isn't a file; the kind of context follows. */
export const CONTEXT_SCHEME = 'parley:'
const ICONS: Readonly<Record<string, string>> = {
  problems: 'warning',
  changes: 'git-compare',
  revision: 'git-commit',
  terminal: 'terminal',
  pasted: 'note',
  test: 'beaker',
  comments: 'comment',
  prompt: 'bookmark',
  variable: 'symbol-variable',
}

/** The chip of a content block. */
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
  const lines = LINES.test(uri)
  const label = named ?? nameOfUri(uri)
  const isFolder = /\/(#.*)?$/.test(uri)
  return {
    label,
    icon: isFolder ? 'folder' : lines ? 'list-selection' : fileIcon(nameIn(uri)),
    detail: readable(uri.replace(LINES, linesText)),
  }
}

/** The last name in a URI with the lines, in readable form: `a.ts:3`, `a.ts:3-5`. */
export function nameOfUri(uri: string): string {
  const lines = LINES.exec(uri)
  return `${nameIn(uri)}${lines ? linesText(lines[0], lines[1], lines[2]) : ''}`
}

const LINES = /#L(\d+)(?:-L?(\d+))?$/i

function linesText(_fragment: string, from?: string, to?: string): string {
  return `:${from}${to === undefined || to === from ? '' : `-${to}`}`
}

/** The last name in a URI, in readable form. */
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

const ICONS_BY_EXTENSIONS: ReadonlyArray<readonly [icon: string, extensions: string]> = [
  ['markdown', 'md mdx markdown'],
  ['json', 'json jsonc json5'],
  [
    'file-media',
    'png jpg jpeg gif webp bmp svg ico avif heic heif tif tiff jxl mp3 wav ogg flac m4a mp4 webm mov',
  ],
  ['file-pdf', 'pdf'],
  ['file-zip', 'zip gz tgz tar bz2 xz 7z jar vsix'],
  ['file-binary', 'exe dll so dylib wasm bin o a class pyc'],
  ['database', 'sql db sqlite'],
  ['terminal', 'sh bash zsh fish ps1 bat cmd'],
  ['settings-gear', 'toml yaml yml ini cfg conf env properties editorconfig'],
  ['ruby', 'rb'],
  ['python', 'py pyi'],
  [
    'file-code',
    'ts tsx mts cts js jsx mjs cjs c h cc cpp cxx hpp cs go rs java kt kts swift php lua r jl scala clj ex exs erl hs ml fs dart vue svelte astro html htm css scss sass less xml xsl graphql proto zig nim',
  ],
]
const byExtension = new Map(
  ICONS_BY_EXTENSIONS.flatMap(([icon, extensions]) =>
    extensions.split(' ').map(extension => [extension, icon] as const),
  ),
)

/** The codicon for a file's name. */
export function fileIcon(name: string): string {
  const extension = /\.([^./\\]+)$/.exec(name)?.[1]?.toLowerCase()
  return (extension !== undefined && byExtension.get(extension)) || 'file'
}
