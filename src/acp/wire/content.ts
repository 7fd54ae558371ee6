import * as z from 'zod'
import { isRecord } from '../../common/is-record.ts'
import type { ContentBlock } from '../model.ts'
import { maybeNumber, maybeText } from './lenient.ts'

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
})
export const resourceSchema = z.object({
  resource: z.object({ uri: z.string(), mimeType: maybeText, text: maybeText, blob: maybeText }),
})

/**
 * A content block, the same in both versions. A malformed block, or one of an unknown kind, is stored whole as `unknown`; a bare string is
 * read as text; `undefined` if there is nothing to show.
 */
export function readBlock(raw: unknown): ContentBlock | undefined {
  if (typeof raw === 'string') return { type: 'text', text: raw }
  if (!isRecord(raw)) return undefined
  const block = readKnown(raw)
  if (block) return isForAgent(raw.annotations) ? { ...block, agentOnly: true } : block
  return { type: 'unknown', kind: typeof raw.type === 'string' ? raw.type : '', raw }
}

/** An audience that includes the assistant but not the user. */
function isForAgent(annotations: unknown): boolean {
  const audience = isRecord(annotations) ? annotations.audience : undefined
  return Array.isArray(audience) && audience.includes('assistant') && !audience.includes('user')
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

/** An object with the key if there is a value, else an empty one. */
export function given<K extends string, T>(key: K, value: T | null | undefined): { [P in K]?: T } {
  return value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]?: T })
}

/** Converts a known block, the same in both versions. The caller must check whether the agent accepts it. */
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
