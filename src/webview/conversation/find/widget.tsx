import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { FindQuery } from '../../../common/find-pattern.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import type { FindModel } from './model.ts'

type Toggle = 'matchCase' | 'wholeWord' | 'regex'
const toggleOfKey: Record<string, Toggle> = { KeyC: 'matchCase', KeyW: 'wholeWord', KeyR: 'regex' }

/** Finds text in the whole conversation; looks and works like the find widget of VS Code's editor. */
export function FindWidget({ find }: { find: FindModel }) {
  const input = useRef<HTMLInputElement>(null)
  useSignalEffect(() => {
    if (find.focusWanted.value === 0) return
    // wait until the input is rendered
    requestAnimationFrame(() => {
      input.current?.focus()
      input.current?.select()
      find.focused()
    })
  })
  if (!find.isOpen.value) return null
  const query = find.query.value
  const problem = find.problem.value
  const none = find.total.value === 0
  const toggle = (key: Toggle) => {
    find.setQuery({ ...query, [key]: !query[key] })
    input.current?.focus()
  }

  const onKey = (event: KeyboardEvent) => {
    if (event.isComposing) return
    const option = toggleOfKey[event.code]
    if (event.key === 'Escape') find.close()
    else if (event.key === 'Enter' && event.target === input.current) find.step(event.shiftKey ? -1 : 1)
    else if (event.key === 'F3' || (event.key.toLowerCase() === 'g' && event.metaKey))
      find.step(event.shiftKey ? -1 : 1)
    else if (event.altKey && !event.ctrlKey && option) toggle(option)
    else return
    event.preventDefault()
  }

  const option = (key: Toggle, icon: string, label: string) => (
    <IconButton
      icon={icon}
      label={label}
      pressed={query[key]}
      class="find-toggle"
      onClick={() => toggle(key)}
    />
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element is too new for some supported versions of VS Code
    <div class="find" role="search" aria-label={t('Find in Conversation')} onKeyDown={onKey}>
      <div class={`find-input${problem ? ' invalid' : ''}`}>
        <input
          ref={input}
          type="text"
          value={query.text}
          placeholder={t('Find')}
          aria-label={t('Find')}
          aria-invalid={problem !== undefined}
          title={problem}
          spellcheck={false}
          dir="auto"
          onInput={event => find.setQuery({ ...query, text: event.currentTarget.value } satisfies FindQuery)}
        />
        {option('matchCase', 'case-sensitive', t('Match Case (Alt+C)'))}
        {option('wholeWord', 'whole-word', t('Match Whole Word (Alt+W)'))}
        {option('regex', 'regex', t('Use Regular Expression (Alt+R)'))}
      </div>
      <div
        class={`find-count truncate${none && query.text !== '' && !find.searching.value ? ' none' : ''}`}
        title={problem}
      >
        <Count find={find} />
      </div>
      <div class="find-buttons">
        <IconButton
          icon="arrow-up"
          label={t('Previous Match (Shift+Enter)')}
          disabled={none}
          onClick={() => find.step(-1)}
        />
        <IconButton
          icon="arrow-down"
          label={t('Next Match (Enter)')}
          disabled={none}
          onClick={() => find.step(1)}
        />
        <IconButton icon="close" label={t('Close (Escape)')} onClick={() => find.close()} />
      </div>
    </div>
  )
}

function Count({ find }: { find: FindModel }) {
  const total = find.total.value
  if (find.problem.value) return <>{find.problem.value}</>
  if (find.query.value.text === '') return <>{t('No results')}</>
  if (total === 0) return <>{find.searching.value ? t('Searching…') : t('No results')}</>
  const all = find.limited.value || find.searching.value ? `${total}+` : total
  return <>{t('{0} of {1}', find.ordinal.value || '?', all)}</>
}
