import type { ConversationHead, QueuedNote } from '../../../bridge/conversation.ts'
import { attachedItems } from '../../../common/draft.ts'
import { plural, t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Draft } from './draft.ts'

/** Longer prompts are truncated. Characters. */
const MAX_SHOWN = 2000

/**
 * The prompts that have left the composer but aren't queued yet: their agent is starting, or their content is being read.
 * Prompts that are sent immediately aren't visible here (see the styles).
 */
export function SendingPrompts({ head, draft }: { head: ConversationHead | undefined; draft: Draft }) {
  const known = head?.queue ?? []
  const sending = known.filter(({ state }) => state === 'sending')
  const handedOver = draft.handedOver.value.filter(({ id }) => !known.some(note => note.id === id))
  return (
    <>
      {[...sending, ...handedOver.map(noteOf)].map(({ id, text, attachments }) => (
        <div key={id} class="prompt outgoing">
          <span class="visually-hidden">{t('Sending')}: </span>
          <div class="prompt-text folded" dir="auto">
            {text.trim().slice(0, MAX_SHOWN) || plural(attachments, '1 attachment', '{0} attachments')}
          </div>
          <Icon name="loading" class="codicon-modifier-spin" />
        </div>
      ))}
    </>
  )
}

function noteOf({ id, draft }: Draft['handedOver']['value'][number]): QueuedNote {
  return { id, state: 'sending', text: draft.text, attachments: attachedItems(draft).length }
}
