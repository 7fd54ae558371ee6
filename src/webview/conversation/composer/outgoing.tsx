import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import type { Draft } from './draft.ts'

/** More of a prompt than this is not drawn. Characters. */
const most = 2000

/**
 * The prompts that left the composer and are not in the conversation yet: the agent still starts, or the host is slow.
 * Those that are taken at once are not seen here (see the styles).
 */
export function OutgoingPrompts({ draft }: { draft: Draft }) {
  return (
    <>
      {draft.outgoing.value.map(({ id, draft: { text, items } }) => (
        <div key={id} class="prompt outgoing">
          <span class="visually-hidden">{t('On its way')}: </span>
          <div class="prompt-text folded" dir="auto">
            {text.trim().slice(0, most) || items.map(item => item.label).join(', ')}
          </div>
          <Icon name="loading" class="codicon-modifier-spin" />
        </div>
      ))}
    </>
  )
}
