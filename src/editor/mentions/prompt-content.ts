import path from 'node:path'
import { fileURLToPath } from 'node:url'
import * as l10n from '@vscode/l10n'
import type { AgentCapabilities, ContentBlock, ResourceBlock, Roots } from '../../acp/model.ts'
import { chipOf, nameOfUri } from '../../common/block-chip.ts'
import { codeFence } from '../../common/code-fence.ts'
import { messageOf } from '../../common/errors.ts'
import { imageInfo, MAX_IMAGE_SIDE } from '../../common/image-info.ts'
import { isElsewhere } from '../../common/path-mapping.ts'
import { planPlace } from '../../common/plan-uri.ts'
import type { ContextRef, PromptPart, RevisionRef } from '../../conversation/attachment.ts'
import { findLines } from '../comment-lines.ts'

/** Maximum size of an embedded file; a larger file is linked. Bytes. */
export const MAX_FILE_BYTES = 256 * 1024
/** Maximum total size of the content that a prompt embeds, in UTF-16 units; further content is linked. */
const MAX_EMBEDDED = 1024 * 1024
/** Maximum size of an embedded image; a larger image is linked, since models refuse it. Bytes. */
const MAX_IMAGE_BYTES = 3 * 1024 * 1024

/** Functions that read the content for prompts from the editor and the disk. */
export interface ContextSources {
  /** Whether a file may be read for the prompt: it's in a folder of the session or of the workspace, or the user picked it. */
  mayRead(file: string, roots: Roots): Promise<boolean>
  /** Resolves to the number of bytes of a file, including unsaved changes; `undefined` if the path isn't a file's. */
  size(file: string): Promise<number | undefined>
  /** Resolves to the text of a file; `undefined` if the file isn't text. */
  readText(file: string): Promise<string | undefined>
  readBytes(file: string): Promise<Uint8Array>
  /** Resolves to the problems of a file, or of all files, as text for a model; empty if there are none. */
  problems(uri: string | undefined): Promise<string>
  /** Resolves to a diff of the changes; empty if there are none. */
  changes(staged: boolean): Promise<string>
  /**
   * Resolves to a commit with its message and diff, or to a branch's diff; `undefined` if no repository has the revision. Rejects if Git
   * can't show it.
   */
  revision(ref: RevisionRef): Promise<string | undefined>
}

export interface PromptTarget {
  agentName: string
  can: Pick<AgentCapabilities, 'prompt' | 'pathMappings'>
  roots: Roots
}

/**
 * Creates the blocks of a prompt from the parts that the user wrote: each chip at its position, embedded if the agent supports embedded
 * context and the content is small enough, else linked. Content that isn't a file's and can't be embedded becomes text. Rejects with a
 * sentence if the agent doesn't support some of the content.
 */
export async function promptContent(
  parts: readonly PromptPart[],
  target: PromptTarget,
  sources: ContextSources,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = []
  let remaining = MAX_EMBEDDED
  for (const [i, part] of parts.entries()) {
    const read = isRef(part) ? await lookUp(part, target, sources, remaining) : part
    const block = parts[i + 1]?.type === 'text' ? separate(read) : read
    const fit = fitFor(block, target)
    if (fit.type === 'resource') remaining -= fit.text?.length ?? 0
    blocks.push(fit)
  }
  return joinTexts(blocks)
}

type Labeled = ContextRef & { label: string }

function isRef(part: PromptPart): part is Labeled {
  return ['file', 'folder', 'symbol', 'problems', 'changes', 'revision', 'comment'].includes(part.type)
}

async function lookUp(
  ref: Labeled,
  target: PromptTarget,
  sources: ContextSources,
  remaining: number,
): Promise<ContentBlock> {
  switch (ref.type) {
    case 'file':
      return file(ref, target, sources, remaining)
    case 'folder':
      return { type: 'resource_link', uri: ref.uri, name: ref.label }
    case 'symbol':
      return symbol(ref, target, sources)
    case 'comment':
      return comment(ref, target, sources)
    case 'problems': {
      const text = (await sources.problems(ref.uri)) || l10n.t('There are no problems.')
      const about = ref.uri === undefined ? '' : `/${path.posix.basename(ref.uri)}`
      return { type: 'resource', uri: `parley:problems${about}`, mimeType: 'text/plain', text }
    }
    case 'changes': {
      const text = (await sources.changes(ref.staged)) || l10n.t('There are no changes.')
      const which = ref.staged ? 'staged' : 'unstaged'
      return { type: 'resource', uri: `parley:changes/${which}`, mimeType: 'text/x-diff', text }
    }
    case 'revision': {
      const text = await sources.revision(ref).catch((error: unknown) => {
        throw new Error(l10n.t("Can't add {0}: {1}", ref.label, messageOf(error)))
      })
      if (text === undefined)
        throw new Error(l10n.t("Git doesn't know {0}. Remove it to send the prompt.", ref.label))
      const uri = `parley:revision/${encodeURIComponent(ref.label)}`
      return { type: 'resource', uri, mimeType: 'text/x-diff', text: text || l10n.t('There are no changes.') }
    }
  }
}

async function file(
  { uri, label }: { uri: string; label: string },
  { can, roots }: PromptTarget,
  sources: ContextSources,
  remaining: number,
): Promise<ContentBlock> {
  const mimeType = mimeTypeOf(uri)
  const link: ContentBlock = { type: 'resource_link', uri, name: label, ...(mimeType && { mimeType }) }
  const path = pathOfUri(uri)
  if (path === undefined || !(await sources.mayRead(path, roots))) return link
  const size = await sources.size(path)
  if (size === undefined) return link
  link.size = size
  if (mimeType?.startsWith('image/') && can.prompt.image && size <= MAX_IMAGE_BYTES) {
    const bytes = await sources.readBytes(path)
    const image = imageInfo(bytes)
    // this process can't scale a larger image, only a page can
    if (image && Math.max(image.width, image.height) <= MAX_IMAGE_SIDE)
      return { type: 'image', data: Buffer.from(bytes).toString('base64'), mimeType: image.mimeType, uri }
  }
  if (
    !(can.prompt.embeddedContext || isElsewhere(can.pathMappings, uri, roots.cwd)) ||
    size > Math.min(MAX_FILE_BYTES, remaining)
  )
    return link
  const text = await sources.readText(path)
  return text === undefined ? link : { type: 'resource', uri, mimeType: mimeType ?? 'text/plain', text }
}

async function symbol(
  { uri, label, startLine, endLine }: Extract<Labeled, { type: 'symbol' }>,
  { can, roots }: PromptTarget,
  sources: ContextSources,
): Promise<ContentBlock> {
  const at = `${uri}#L${startLine}-L${endLine}`
  const link: ContentBlock = { type: 'resource_link', uri: at, name: label }
  const path = pathOfUri(uri)
  const canHaveText = can.prompt.embeddedContext || isElsewhere(can.pathMappings, uri, roots.cwd)
  if (!canHaveText || path === undefined || !(await sources.mayRead(path, roots))) return link
  const size = await sources.size(path)
  if (size === undefined || size > 4 * MAX_FILE_BYTES) return link
  const lines = (await sources.readText(path))?.split('\n').slice(startLine - 1, endLine)
  const text = lines?.join('\n') ?? ''
  if (text === '' || text.length > MAX_FILE_BYTES) return link
  return { type: 'resource', uri: at, mimeType: mimeTypeOf(uri) ?? 'text/plain', text }
}

/** Returns a block with a comment and the current position of its lines. */
async function comment(
  { uri, startLine, endLine, quote, text }: Extract<Labeled, { type: 'comment' }>,
  { roots }: PromptTarget,
  sources: ContextSources,
): Promise<ContentBlock> {
  const path = pathOfUri(uri)
  const isReadable = path !== undefined && (await sources.mayRead(path, roots))
  const now = isReadable ? await sources.readText(path).catch(() => undefined) : undefined
  const start = (now === undefined ? undefined : findLines(now, quote, startLine)) ?? startLine
  const end = start + endLine - startLine
  const lines = start === end ? `${start}` : `${start}-${end}`
  const name = path ?? (planPlace(uri) ? l10n.t('your plan') : decoded(uri))
  const about = l10n.t('Comment on {0}:', `${name}:${lines}`)
  const shown = quote.trim() === '' ? [] : [fenced(quote)]
  return {
    type: 'resource',
    uri: `parley:comments/${encodeURIComponent(`${nameOfUri(uri)}:${lines}`)}`,
    mimeType: 'text/markdown',
    text: [about, text, ...shown].join('\n\n'),
  }
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri)
  } catch {
    return uri
  }
}

/** Returns the path of a file URI on this machine's disk. */
export function pathOfUri(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? fileURLToPath(uri.replace(/#.*$/s, '')) : undefined
  } catch {
    return undefined
  }
}

/** Returns the block in a form that the agent supports. */
function fitFor(block: ContentBlock, { agentName, can, roots }: PromptTarget): ContentBlock {
  const hasFile = (uri: string) => uri.startsWith('file:') && !isElsewhere(can.pathMappings, uri, roots.cwd)
  if (block.type === 'image' && !can.prompt.image) {
    if (block.uri !== undefined && hasFile(block.uri)) return linkTo(block.uri, block.mimeType)
    throw new Error(l10n.t("{0} doesn't support images. Remove the image to send the prompt.", agentName))
  }
  if (block.type === 'audio' && !can.prompt.audio) {
    throw new Error(l10n.t("{0} doesn't support audio. Remove the recording to send the prompt.", agentName))
  }
  if (block.type !== 'resource' || block.asText || can.prompt.embeddedContext) return block
  // an agent on another machine can't read a file from this machine's disk
  if (hasFile(block.uri)) return linkTo(block.uri, block.mimeType)
  return { type: 'text', text: asText(block) }
}

function linkTo(uri: string, mimeType: string | undefined): ContentBlock {
  return {
    type: 'resource_link',
    uri,
    name: chipOf({ type: 'resource', uri }).label,
    ...(mimeType && { mimeType }),
  }
}

function asText({ uri, text = '' }: ResourceBlock): string {
  return `\n${chipOf({ type: 'resource', uri }).label}:\n${fenced(text)}\n`
}

function fenced(text: string): string {
  const fence = codeFence(text)
  return `${fence}\n${text}\n${fence}`
}

/** Adds empty lines that separate a prompt file's text from the text that follows it. */
function separate(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource' || !block.asText) return block
  return { ...block, text: `${block.text?.trimEnd() ?? ''}\n\n` }
}

/** Joins adjacent text blocks. */
function joinTexts(blocks: readonly ContentBlock[]): ContentBlock[] {
  const joined: ContentBlock[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    if (block.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { ...last, text: last.text + block.text }
    else joined.push(block)
  }
  return joined
}

const TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  htm: 'text/html',
  html: 'text/html',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  svg: 'image/svg+xml',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  ts: 'text/typescript',
  tsx: 'text/typescript',
  wav: 'audio/wav',
  webp: 'image/webp',
  xml: 'text/xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
}

/** Returns the media type of a path or URI by its extension; `undefined` if the extension isn't a common one. */
export function mimeTypeOf(name: string): string | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(name.replace(/[?#].*$/s, ''))?.[1]?.toLowerCase()
  return extension === undefined ? undefined : TYPES[extension]
}
