import type { RefObject } from 'preact'
import type { Attachment } from '../../../bridge/conversation.ts'
import { hasModifier } from '../../ui/control-key.ts'
import type { App } from '../context.ts'
import { calledCommand } from './completion.ts'
import type { Draft } from './draft.ts'
import { suggestionOf } from './placeholder.ts'
import { editLast, type usePromptHistory } from './prompt-history.ts'
import { sendsOn } from './send-key.ts'
import type { TextInputHandle } from './text-input.tsx'
import type { Completing } from './use-completion.tsx'

interface ComposerKeysOptions {
  app: App
  draft: Draft
  input: RefObject<TextInputHandle | null>
  completion: Completing
  history: ReturnType<typeof usePromptHistory>
  /** `now`: into the running turn */
  send(now: boolean): void
  openItem(item: Attachment): void
  /** Adds the file or selection that the user works on; returns false if there is none. */
  addOffered(): boolean
}

/** Returns the handler of keys in the composer's text, which returns true if it handled the key. */
export function composerKeys({
  app,
  draft,
  input,
  completion,
  history,
  send,
  openItem,
  addOffered,
}: ComposerKeysOptions): (event: KeyboardEvent) => boolean {
  const insertSuggestion = (): boolean => {
    const suggestion = suggestionOf(app.store.head.peek())
    if (suggestion === undefined || !draft.isEmpty.peek()) return false
    input.current?.insert(suggestion)
    return true
  }
  /** Inserts a space after a typed command that takes arguments, as after a command chosen from the list; returns false otherwise. */
  const awaitArguments = (): boolean => {
    const written = draft.text.peek()
    const command = calledCommand(completion.commands, written)
    if (!command?.hint || written !== `/${command.name}`) return false
    input.current?.insert(' ')
    return true
  }
  const recall = (key: 'ArrowUp' | 'ArrowDown'): boolean => {
    const { start, end } = input.current?.caret ?? { start: 0, end: 0 }
    const atStart = start === 0 && end === 0
    if (key === 'ArrowUp' && draft.isEmpty.peek() && !history.isWalking() && editLast(app)) return true
    // a user who moved into the text with the cursor stays there
    if (!atStart && (start !== end || end !== draft.text.peek().length) && history.isWalking()) return false
    return history.onArrow(key, atStart)
  }
  return event => {
    if (completion.onKey(event)) return true
    if (event.key === 'Tab' && !hasModifier(event)) return insertSuggestion()
    if (event.key === 'Enter' && event.altKey) {
      const item = draft.item(input.current?.chipAtCaret ?? '')
      if (!item) return addOffered()
      openItem(item)
      return true
    }
    if (event.key === 'Enter') {
      const how = sendsOn(event)
      if (how && !awaitArguments()) send(how === 'now')
      return how !== undefined
    }
    return !hasModifier(event) && (event.key === 'ArrowUp' || event.key === 'ArrowDown') && recall(event.key)
  }
}
