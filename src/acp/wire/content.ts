import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import { MAX_ICON } from '../../common/limits.ts'
import { parseTimestamp } from '../../common/timestamp.ts'
import type { ContentBlock, LinkIcon } from '../model.ts'
import { anything, type Json, maybeNumber, maybeText } from './lenient.ts'

/**
 * The start of a `data:` URI of an image. Icons with other URIs are ignored: fetching them would tell the agent when the user sees them.
 */
const DATA_IMAGE = /^data:image\/[a-z0-9.+-]+[;,]/i
/** Maximum number of icons that are read from a link. */
const MAX_ICONS = 20

export const textSchema = z.object({ text: z.string() })
export const imageSchema = z.object({ data: z.string(), mimeType: z.string(), uri: maybeText })
export const audioSchema = z.object({ data: z.string(), mimeType: z.string() })
export const linkSchema = z.object({
  uri: z.string(),
  name: maybeText,
  title: maybeText,
  description: maybeText,
  mimeType: maybeText,
  size: maybeNumber,
  icons: anything,
})
export const iconSchema = z.object({ src: z.string().max(MAX_ICON).regex(DATA_IMAGE), theme: maybeText })
export const resourceSchema = z.object({
  resource: z.object({ uri: z.string(), mimeType: maybeText, text: maybeText, blob: maybeText }),
})

/**
 * Reads a content block, which has the same form in both versions. A malformed block, or a block of an unknown kind, is kept whole as
 * `unknown`. A bare string is read as text. Returns `undefined` if there is nothing to show.
 */
export function readBlock(raw: unknown): ContentBlock | undefined {
  if (typeof raw === 'string') return { type: 'text', text: raw }
  if (!isRecord(raw)) return undefined
  const block = readKnown(raw)
  if (block) return isRecord(raw.annotations) ? annotated(block, raw.annotations) : block
  return { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}

function annotated(block: Known, { audience, lastModified, priority }: Json): Known {
  // The audience includes the assistant but not the user.
  const agentOnly = Array.isArray(audience) && audience.includes('assistant') && !audience.includes('user')
  const common = agentOnly ? { ...block, agentOnly: true as const } : block
  if (common.type !== 'resource_link' && common.type !== 'resource') return common
  const modified = { ...common, ...given('lastModified', parseTimestamp(lastModified)) }
  return modified.type === 'resource' && priority === 1 ? { ...modified, isImportant: true } : modified
}

type Known = Exclude<ContentBlock, { type: 'unknown' }>

function readKnown(raw: { [key: string]: unknown }): Known | undefined {
  switch (raw.type) {
    case 'text': {
      const text = textSchema.safeParse(raw)
      return text.success ? { type: 'text', text: text.data.text } : undefined
    }
    case 'image': {
      const image = imageSchema.safeParse(raw).data
      if (!image) return undefined
      return { type: 'image', data: image.data, mimeType: image.mimeType, ...given('uri', image.uri) }
    }
    case 'audio': {
      const audio = audioSchema.safeParse(raw).data
      return audio && { type: 'audio', data: audio.data, mimeType: audio.mimeType }
    }
    case 'resource_link': {
      const link = linkSchema.safeParse(raw).data
      if (!link) return undefined
      return {
        type: 'resource_link',
        uri: link.uri,
        name: link.name ?? link.title ?? link.uri,
        ...given('title', link.title),
        ...given('description', link.description),
        ...given('mimeType', link.mimeType),
        ...given('size', link.size),
        ...given('icons', readIcons(link.icons)),
      }
    }
    case 'resource': {
      const resource = resourceSchema.safeParse(raw).data?.resource
      if (!resource) return undefined
      return {
        type: 'resource',
        uri: resource.uri,
        ...given('mimeType', resource.mimeType),
        ...given('text', resource.text),
        ...given('blob', resource.blob),
      }
    }
    default:
      return undefined
  }
}

const THEMES = ['light', 'dark'] as const

/** Returns the first usable icon for each theme. */
function readIcons(raw: unknown): LinkIcon[] | undefined {
  const icons = new Map<LinkIcon['theme'], LinkIcon>()
  for (const one of Array.isArray(raw) ? raw.slice(0, MAX_ICONS) : []) {
    const wire = iconSchema.safeParse(one).data
    const theme = THEMES.find(name => name === wire?.theme)
    if (wire && !icons.has(theme)) icons.set(theme, { src: wire.src, ...given('theme', theme) })
  }
  return icons.size > 0 ? [...icons.values()] : undefined
}

/** Returns an object with the key and the value, or an empty object if there is no value. */
export function given<K extends string, T>(key: K, value: T | null | undefined): { [P in K]?: T } {
  return value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]?: T })
}

/**
 * Returns a known block in its wire form, which is the same in both versions. The caller must check whether the agent accepts the block.
 */
export function blockToWire(block: Known) {
  switch (block.type) {
    case 'text':
      return { type: block.type, text: block.text }
    case 'resource_link': {
      const { type, uri, name, title, description, mimeType, size } = block
      return { type, uri, name, title, description, mimeType, size }
    }
    case 'image': {
      const { type, data, mimeType, uri } = block
      return { type, data, mimeType, uri }
    }
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mimeType }
    case 'resource': {
      const { type, uri, mimeType, text, blob, asText } = block
      if (asText) return { type: 'text' as const, text: text ?? '' }
      const isBinary = blob !== undefined && text === undefined
      return { type, resource: isBinary ? { uri, mimeType, blob } : { uri, mimeType, text: text ?? '' } }
    }
  }
}
