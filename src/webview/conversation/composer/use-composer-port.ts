import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { draftOf, joinDrafts } from '../../../common/draft.ts'
import { t } from '../../l10n.ts'
import { announce } from '../../ui/live-region.tsx'
import { type ComposerPort, useApp } from '../context.ts'
import { type Draft, itemFromBlock, type WrittenDraft } from './draft.ts'
import type { TextInputHandle } from './text-input.tsx'

/** A note below the composer. */
export interface ComposerNote {
  text: string
  icon: 'error' | 'info'
}

/** Functions that only the composer itself can provide. */
export interface ComposerParts extends Pick<ComposerPort, 'attach' | 'sendTo' | 'showAllowance' | 'recall'> {
  input: RefObject<TextInputHandle | null>
  isWriting(): boolean
  show(note: ComposerNote): void
}

/** Lets the other parts of the page use the composer for as long as it exists. */
export function useComposerPort(draft: Draft, parts: ComposerParts): void {
  const app = useApp()
  const now = useRef(parts)
  now.current = parts
  useLayoutEffect(() => {
    const { input } = parts
    const say = (text: string, icon: ComposerNote['icon'], spoken = text) => {
      now.current.show({ text, icon })
      announce(spoken)
    }
    draft.onRefused = sentence => say(sentence, 'error', t("The prompt wasn't sent: {0}", sentence))
    app.composer.current = {
      focus: () => input.current?.focus(),
      get isEmpty() {
        return draft.isEmpty.peek()
      },
      get isWriting() {
        return now.current.isWriting()
      },
      attach: attachment => now.current.attach(attachment),
      type(typed) {
        input.current?.focus()
        input.current?.insert(typed)
      },
      write(blocks, quiet, instead) {
        const put = (before: WrittenDraft) => {
          const written = joinDrafts(before, draftOf(blocks, itemFromBlock))
          draft.put(written)
          input.current?.setText(written)
          if (!quiet) input.current?.focus()
        }
        if (!instead) return put(draft.content.peek())
        void import('./take-back.ts').then(({ withoutPrompt }) =>
          put(withoutPrompt(draft.content.peek(), draftOf(instead, itemFromBlock))),
        )
      },
      sendTo: () => now.current.sendTo(),
      showAllowance: () => now.current.showAllowance(),
      recall() {
        input.current?.focus()
        now.current.recall()
      },
      say: text => say(text, 'info'),
    }
    // the page may have got the focus before the composer existed
    if (document.hasFocus() && document.activeElement === document.body) input.current?.focus()
    return () => {
      app.composer.current = undefined
    }
  }, [app, draft])
}
