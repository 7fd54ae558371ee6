import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../../l10n.ts'
import { TitleField } from '../../ui/title-field.tsx'
import { useApp } from '../context.ts'

/** The session's title; a click or F2 lets the person write another one. */
export function SessionTitle() {
  const { store, host, page } = useApp()
  const head = store.head.value
  const [editing, setEditing] = useState<string | undefined>(undefined)
  const button = useRef<HTMLButtonElement>(null)
  const back = useRef(false)
  const sessionId = head?.sessionId
  // another session has come meanwhile: what was being written is not its title
  const edited = editing !== undefined && editing === sessionId

  useEffect(() => {
    if (sessionId === undefined) return
    const rename = (event: KeyboardEvent) => {
      if (event.key !== 'F2' || event.defaultPrevented || page.peek() !== 'conversation') return
      event.preventDefault()
      setEditing(sessionId)
    }
    window.addEventListener('keydown', rename)
    return () => window.removeEventListener('keydown', rename)
  }, [sessionId, page])
  useEffect(() => {
    if (edited || !back.current) return
    back.current = false
    button.current?.focus()
  }, [edited])

  const title = head?.title || t('New session')
  const look = `header-title${head?.title ? '' : ' untitled'}`
  if (edited) {
    return (
      <TitleField
        title={head?.title ?? ''}
        label={t('Session title')}
        placeholder={t('Automatic title')}
        class="header-title-field"
        onRename={title => host.send('conversation/rename', { title })}
        onClose={byKey => {
          back.current = byKey
          setEditing(undefined)
        }}
      />
    )
  }
  return (
    <h1 class={look} title={sessionId === undefined ? title : undefined} dir="auto">
      {sessionId === undefined ? (
        title
      ) : (
        <button
          ref={button}
          type="button"
          class="header-rename"
          title={t('{0}\nRename (F2)', title)}
          onClick={() => setEditing(sessionId)}
        >
          {title}
        </button>
      )}
    </h1>
  )
}
