import type { Attachment } from './attachment.ts'

/** Context that the editor is asked for at the moment it is wanted: it may be another one a moment later. */
export type CaptureKind = 'selection' | 'terminal' | 'pick'

/** One row of what `@` offers. */
export interface MentionRow {
  group: 'open' | 'recent' | 'context' | 'files' | 'symbols'
  name: string
  /** offsets in `name` of the letters that match what was typed */
  matches: number[]
  /** codicon */
  icon: string
  /** where it is: a path, or a few words */
  detail?: string
  detailMatches?: number[]
  /** what a chip of it is; or what must be looked up when it is chosen */
  take: Attachment | { capture: CaptureKind }
  /** Of a folder: what to go on typing after, to find something in it. */
  goOn?: string
}
