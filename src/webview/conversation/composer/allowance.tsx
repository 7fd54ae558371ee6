import type { RefObject } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import type { Allowance } from '../../../common/allowance.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { controlKey } from '../../ui/control-key.ts'
import { Icon } from '../../ui/icon.tsx'
import { Menu, type MenuChoice } from '../../ui/menu.tsx'
import { useApp } from '../context.ts'

/** The menu for what the session may do without asking. A request that this choice answered links to `button`. */
export function AllowanceSwitch({ button }: { button: RefObject<HTMLButtonElement | null> }) {
  const { host, store } = useApp()
  const [open, setOpen] = useState(false)
  const close = useCallback(() => setOpen(false), [])
  const allowance = store.head.value?.allowance
  if (!allowance) return null
  const { allowed, offered } = allowance
  const choices = (['ask', ...offered] as const).map(choiceOf)
  const current = choices.find(({ value }) => value === allowed)?.name ?? ''
  const label = t('Accept for This Session: {0}', current)
  const next = toggled(allowance)
  return (
    <>
      <IconButton
        icon="shield"
        class={allowed === 'ask' ? 'allowance' : 'allowance on'}
        label={label}
        title={`${label}\n${choiceOf(next).name} (${controlKey()}+.)`}
        expanded={open}
        buttonRef={button}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <Menu
          anchor={button}
          label={t('Accept for This Session')}
          choices={choices}
          current={allowed}
          onChoose={value => host.send('conversation/allow', { allowed: value as Allowance })}
          onClose={close}
        />
      )}
    </>
  )
}

/** Returns the level that the key switches to. The key never allows everything, which only the menu does, but turns it off. */
export function toggled({ allowed, offered }: NonNullable<ConversationHead['allowance']>): Allowance {
  return allowed === 'ask' && offered.includes('edits') ? 'edits' : 'ask'
}

/** A chip that is shown while the session may do something without asking. */
export function AllowanceChip() {
  const { host, store, composer } = useApp()
  const allowed = store.head.value?.allowance?.allowed ?? 'ask'
  if (allowed === 'ask') return null
  const off = () => {
    host.send('conversation/allow', { allowed: 'ask' })
    composer.current?.focus()
  }
  return (
    <ul class="chips composer-chips" aria-label={t('Accept for This Session')}>
      <li>
        <span class={`chip allowance-chip ${allowed}`} title={choiceOf(allowed).description}>
          <Icon name="shield" />
          <span class="chip-label truncate">{allowanceText(allowed)}</span>
          <IconButton icon="close" class="chip-remove" label={t('Ask Again')} onClick={off} />
        </span>
      </li>
    </ul>
  )
}

/** Returns the text for what the session may do without asking. */
export function allowanceText(allowed: Allowance): string {
  if (allowed === 'ask') return choiceOf(allowed).description
  return allowed === 'edits' ? t('Edits allowed') : t('Everything allowed')
}

function choiceOf(value: Allowance): MenuChoice & { value: Allowance; description: string } {
  switch (value) {
    case 'ask':
      return { value, name: t('Ask'), description: t('Permission requests are shown to you') }
    case 'edits':
      return {
        value,
        name: t('Accept Edits'),
        description: t("In the session's folders, except for protected files"),
      }
    case 'everything':
      return {
        value,
        name: t('Accept Everything'),
        description: t('Also commands. Not other folders or protected files'),
      }
  }
}
