import type { ContentBlock } from '../acp/model.ts'
import { chipOf } from '../common/block-chip.ts'
import { type Draft, draftParts } from '../common/draft.ts'
import type { SessionId } from '../common/session-key.ts'

/**
 * The reference behind a chip. The file or other content is read when the prompt is sent, so that the agent gets the current content. Lines
 * are 1-based and inclusive.
 */
export type ContextRef =
  | { type: 'file'; uri: string }
  | { type: 'folder'; uri: string }
  | { type: 'symbol'; uri: string; startLine: number; endLine: number }
  /** uri of the file; absent: the problems of the whole workspace */
  | { type: 'problems'; uri?: string }
  | { type: 'changes'; staged: boolean }
  | RevisionRef
  | LineCommentRef

/**
 * A commit, or a branch's changes since it left its base. `ref` and `base` are full hashes: a name may be ambiguous, or point to another
 * commit when the prompt is sent.
 */
export interface RevisionRef {
  type: 'revision'
  ref: string
  /** Absent if the reference is a single commit. */
  base?: string
}

/** The user's comment on lines of a document. `quote`: the last known text of the lines, without trailing line ends. */
export interface LineCommentRef {
  type: 'comment'
  /** uri of the document, which may not be a file */
  uri: string
  startLine: number
  endLine: number
  quote: string
  text: string
}

/** Maximum length of a comment on lines, and of the quoted lines. Characters. */
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

/** A part of a prompt as the user wrote it: content, or the reference behind a chip. */
export type PromptPart = ContentBlock | (ContextRef & { label: string })

/** A prompt from the composer that isn't sent yet, in the form in which it's stored. */
export interface StoredPrompt {
  id: string
  draft: Draft<Attachment>
}
/** A prompt that returns to the composer. `reason`: a sentence that says why; absent if the user asked for the return. */
export interface ReturnedPrompt extends StoredPrompt {
  reason?: string
  /** The prompt was refused, so the host also returns the later prompts, even those that haven't arrived at the host yet. */
  isRefused?: true
}

/** Returns the chip for a part of a prompt that is not text. */
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

/** Context that is read from the editor immediately, since the editor may change a moment later. */
export type CaptureKind = 'selection' | 'terminal' | 'pick'

/** How a prompt includes a file outside of the workspace folders. `cancel`: the prompt doesn't include the file. */
export type OutsideAnswer = 'content' | 'path' | 'cancel'

/** A row of the suggestions for `@`. */
export interface MentionRow {
  group: 'open' | 'recent' | 'context' | 'files' | 'git' | 'sessions' | 'symbols'
  name: string
  /** offsets in `name` of the letters that match the typed text */
  matches: number[]
  /** codicon */
  icon: string
  /** the location of the suggested item: a path, or a short text */
  detail?: string
  detailMatches?: number[]
  /** the chip that the row adds, the kind of content to capture, or the session whose text is added */
  attaches: Attachment | { capture: CaptureKind } | { session: SessionId }
  /** For a folder: the text to continue typing after, to find something in the folder. */
  continuation?: string
  /** The row is a file outside of the workspace folders: the user is asked whether to add its content. */
  isOutside?: true
}

/** A prompt file, offered as a command. */
export interface PromptFileRow {
  /** the name of the prompt file's command, without the slash */
  name: string
  description: string
  hint?: string
  /** the owner of the prompt file, as shown to the user */
  source: string
  /** tooltip: the location, and the properties that Parley ignores */
  detail: string
}

/** What replaces the call of a prompt file in a draft. */
export interface ExpandedPrompt {
  /** length of the prompt file's call, which is at the start of the text */
  length: number
  /** the chip with the prompt file's text and the values of its variables */
  item: Attachment
  /** the files that the prompt file refers to */
  files: Attachment[]
}
