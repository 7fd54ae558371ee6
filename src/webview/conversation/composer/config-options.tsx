import { useCallback, useMemo, useRef, useState } from 'preact/hooks'
import type { ConfigOption } from '../../../acp/model.ts'
import type { RememberedOption } from '../../../bridge/conversation.ts'
import { sectionsOf } from '../../../common/option-sections.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Menu, type MenuChoice } from '../../ui/menu.tsx'
import { Popup } from '../../ui/popup.tsx'
import { useApp } from '../context.ts'

const beside = ['mode', 'model', 'thought_level']
/** If the agent has no well-known options, at most this many others are shown next to the composer. */
const MAX_OTHERS = 2

/** The session's config options: well-known options next to the composer, the others in a menu. */
export function ConfigOptions() {
  const { store } = useApp()
  const head = store.head.value
  const options = (head?.configOptions ?? []).filter(option => option.type !== 'unknown')
  const rank = (option: ConfigOption) => {
    const index = beside.indexOf(option.category ?? '')
    return index < 0 || option.type !== 'select' ? beside.length : index
  }
  const sorted = [...options].sort((a, b) => rank(a) - rank(b))
  const known = sorted.filter(option => option.type === 'select' && rank(option) < beside.length).length
  const shown = sorted.slice(0, known > 0 ? known : sorted.length <= MAX_OTHERS ? sorted.length : 0)
  const rest = sorted.slice(shown.length)
  const pending = head?.pendingOptions ?? []
  return (
    <div class="options">
      {shown.map(option => (
        <OptionControl key={option.id} option={option} pending={pending.includes(option.id)} />
      ))}
      {rest.length > 0 && <MoreOptions options={rest} pending={pending} />}
    </div>
  )
}

interface OptionControlProps {
  option: ConfigOption
  pending: boolean
  /** whether the option's name is already shown next to the control */
  named?: boolean
}

function OptionControl({ option, pending, named }: OptionControlProps) {
  if (option.type === 'select') return <SelectOption option={option} pending={pending} />
  if (option.type === 'boolean') return <BooleanOption option={option} pending={pending} named={named} />
  return null
}

interface SelectProps {
  option: ConfigOption & { type: 'select' }
  pending: boolean
}

function SelectOption({ option, pending }: SelectProps) {
  const { host, store } = useApp()
  const remembered = store.head.value?.rememberedOptions[option.id]
  const choices = useMemo(() => listed(option, remembered), [option, remembered])
  const { ofDefault, toggleDefault } = useDefault(option)
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setOpen(false), [])
  const current = option.choices.find(choice => choice.value === option.currentValue)
  const name = current?.name ?? option.currentValue
  const title = [`${option.name}: ${name}`, current?.description ?? option.description]
    .filter(Boolean)
    .join('\n')
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`option${pending ? ' pending' : ''}${(name || option.name).length <= MAX_SHORT_NAME ? ' short' : ''}`}
        aria-haspopup="listbox"
        aria-expanded={open}
        aria-busy={pending}
        aria-label={`${option.name}: ${name}`}
        title={title}
        onClick={() => setOpen(!open)}
      >
        <span class="truncate">{name || option.name}</span>
        <Icon name="chevron-down" class="option-chevron" />
      </button>
      {open && (
        <Menu
          anchor={button}
          label={option.name}
          choices={choices}
          starred={choices.length > MAX_WITHOUT_FAVORITES ? new Set(remembered?.favorites) : undefined}
          onStar={value => host.send('options/favorite', { optionId: option.id, value })}
          current={option.currentValue}
          last={{
            value: USE_AS_DEFAULT,
            name: t('Use as Default'),
            description: defaultNote(option, ofDefault),
            checked: ofDefault === option.currentValue,
          }}
          onChoose={value =>
            value === USE_AS_DEFAULT
              ? toggleDefault()
              : host.send('conversation/option', { optionId: option.id, value })
          }
          onClose={close}
        />
      )}
    </>
  )
}

/** The value of the menu's own choice, which no agent's option has. */
const USE_AS_DEFAULT = '\0'

/** Returns the option's default for new sessions, and a function that sets it to the current value or removes it. */
function useDefault({ id, currentValue }: SelectProps['option'] | BooleanProps['option']) {
  const { host, store } = useApp()
  const ofDefault = store.head.value?.defaultOptions[id]
  const toggleDefault = () =>
    host.send('options/default', {
      optionId: id,
      ...(ofDefault !== currentValue && { value: currentValue }),
    })
  return { ofDefault, toggleDefault }
}

function defaultNote({ choices, currentValue }: SelectProps['option'], ofDefault: unknown): string {
  if (ofDefault === undefined || ofDefault === currentValue) return t('For new sessions')
  return t('Current default: {0}', choices.find(({ value }) => value === ofDefault)?.name ?? '')
}

/** Shorter names are never truncated, since too little would be left. */
const MAX_SHORT_NAME = 7

/** With more choices than this, choices can be marked as favorites. */
const MAX_WITHOUT_FAVORITES = 8

/** Returns the choices, preceded by favorites and recently used choices. */
function listed(option: SelectProps['option'], remembered: RememberedOption | undefined): MenuChoice[] {
  return sectionsOf(option.choices, remembered).flatMap(({ section, choices }) => {
    if (section === undefined || typeof section === 'object') return choices
    const group = { favorites: t('Favorites'), recent: t('Recently used'), all: t('All') }[section]
    return choices.map(choice => ({ ...choice, group, again: section !== 'all' }))
  })
}

interface BooleanProps {
  option: ConfigOption & { type: 'boolean' }
  pending: boolean
  named?: boolean
}

function BooleanOption({ option, pending, named }: BooleanProps) {
  const { host } = useApp()
  const on = option.currentValue
  return (
    <button
      type="button"
      class={`option option-toggle${pending ? ' pending' : ''}`}
      role="switch"
      aria-checked={on}
      aria-busy={pending}
      aria-label={option.name}
      title={[option.name, option.description].filter(Boolean).join('\n')}
      onClick={() => host.send('conversation/option', { optionId: option.id, value: !on })}
    >
      <Icon name={on ? 'pass-filled' : 'circle-large-outline'} class="option-mark" />
      <span class="truncate">{named ? (on ? t('On') : t('Off')) : option.name}</span>
    </button>
  )
}

function DefaultToggle({ option }: Pick<BooleanProps, 'option'>) {
  const { ofDefault, toggleDefault } = useDefault(option)
  const isDefault = ofDefault === option.currentValue
  return (
    <IconButton
      icon={isDefault ? 'pinned' : 'pin'}
      label={`${option.name}: ${t('Use as Default')}`}
      pressed={isDefault}
      onClick={toggleDefault}
    />
  )
}

function MoreOptions({ options, pending }: { options: readonly ConfigOption[]; pending: readonly string[] }) {
  const [open, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const close = useCallback(() => setOpen(false), [])
  return (
    <>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={t('More Options')}
        title={t('More Options')}
        onClick={() => setOpen(!open)}
      >
        <Icon name="settings" />
      </button>
      {open && (
        <Popup anchor={button} onClose={close} class="details more-options" label={t('More Options')}>
          {options.map(option => (
            <div key={option.id} class="more-option">
              <div class="more-option-text">
                <div>{option.name}</div>
                {option.description && <div class="quiet">{option.description}</div>}
              </div>
              <OptionControl option={option} pending={pending.includes(option.id)} named />
              {option.type === 'boolean' && <DefaultToggle option={option} />}
            </div>
          ))}
        </Popup>
      )}
    </>
  )
}
