import type { ContentBlock } from '../acp/model.ts'
import { chipOf } from '../common/block-chip.ts'
import { type Draft, draftParts } from '../common/draft.ts'
import type { SessionId } from '../common/session-key.ts'

/**
 * The reference behind a chip. Its content is read when the prompt is sent, so that the agent gets the current content.
 * Lines are 1-based and inclusive.
 */
export type ContextRef =
  | { type: 'file'; uri: string }
  | { type: 'folder'; uri: string }
  | { type: 'symbol'; uri: string; startLine: number; endLine: number }
  /** of one file, or of the whole workspace */
  | { type: 'problems'; uri?: string }
  | { type: 'changes'; staged: boolean }
  | RevisionRef
  | LineCommentRef

/**
 * A commit, or a branch's changes since it left its base. Both are full hashes: a name may be ambiguous, or mean another commit when the
 * prompt is sent.
 */
export interface RevisionRef {
  type: 'revision'
  ref: string
  /** Absent: a commit. */
  base?: string
}

/** The user's comment on lines of a document. `quote`: the last known text of those lines, without trailing line ends. */
export interface LineCommentRef {
  type: 'comment'
  /** of the document, which may have no file */
  uri: string
  startLine: number
  endLine: number
  quote: string
  text: string
}

/** Maximum length of a comment on lines, and of the lines that go with it. Characters. */
export const MAX_COMMENT_LENGTH = 100_000

/** Context attached to a prompt, as a chip in the composer. */
export interface Attachment {
  id: string
  label: string
  /** codicon */
  icon: string
  /** tooltip: the path and lines */
  detail?: string
  content: ContentBlock | ContextRef
}

/** A part of a prompt as the user wrote it: content, or the reference of a chip. */
export type PromptPart = ContentBlock | (ContextRef & { label: string })

/** A prompt from the composer that isn't sent yet, as stored. */
export interface StoredPrompt {
  id: string
  draft: Draft<Attachment>
}
/** A prompt that returns to the composer. `reason`: a sentence with the reason; absent if the user asked for it. */
export interface ReturnedPrompt extends StoredPrompt {
  reason?: string
  /** The host also returns the later prompts, even those that haven't arrived there yet. */
  isRefused?: true
}

/** The chip for a part of a prompt that is not text. */
export function attachmentOf(content: ContentBlock): Attachment {
  return { id: crypto.randomUUID(), ...chipOf(content), content }
}

export function promptOf(draft: Draft<Attachment>): PromptPart[] {
  return draftParts(draft).map(part => {
    if ('text' in part) return { type: 'text', text: part.text }
    const { content, label } = part.item
    switch (content.type) {
      case 'file':
      case 'folder':
      case 'symbol':
      case 'problems':
      case 'changes':
      case 'revision':
      case 'comment':
        return { ...content, label }
      default:
        return content
    }
  })
}

/** Context that is read from the editor at once, since it may change a moment later. */
export type CaptureKind = 'selection' | 'terminal' | 'pick'

/** How a prompt includes a file outside of the folders. `cancel`: not at all. */
export type OutsideAnswer = 'content' | 'path' | 'cancel'

/** A suggestion for `@`. */
export interface MentionRow {
  group: 'open' | 'recent' | 'context' | 'files' | 'git' | 'sessions' | 'symbols'
  name: string
  /** offsets in `name` of the letters that match the typed text */
  matches: number[]
  /** codicon */
  icon: string
  /** its location: a path, or a short text */
  detail?: string
  detailMatches?: number[]
  /** the chip that the row adds, the kind of content to capture, or the session whose text is added */
  attaches: Attachment | { capture: CaptureKind } | { session: SessionId }
  /** Of a folder: the text to continue after, to find something in it. */
  continuation?: string
  /** A file outside of the workspace's folders: the user is asked whether its content is added. */
  isOutside?: true
}

/** A prompt file, offered as a command. */
export interface PromptFileRow {
  /** the name of its command, without the slash */
  name: string
  description: string
  hint?: string
  /** the owner, for the user */
  source: string
  /** tooltip: the location, and the properties that aren't applied */
  detail: string
}

/** The replacement for the call of a prompt file in a draft. */
export interface ExpandedPrompt {
  /** length of the call at the start of the text */
  length: number
  /** the prompt file's text with the values of its variables */
  item: Attachment
  /** the files that the prompt file refers to */
  files: Attachment[]
}
