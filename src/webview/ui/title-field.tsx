import { useLayoutEffect, useRef } from 'preact/hooks'

interface TitleFieldProps {
  /** the current title */
  title: string
  label: string
  placeholder?: string
  class?: string
  /** The user confirmed a different title, with Enter or by moving the focus. */
  onRename: (title: string) => void
  /** Closes the field after `onRename`, or on Escape. `byKey`: a key closed it, so the focus must be restored. */
  onClose: (byKey: boolean) => void
}

/** A field to edit a title in place. As in VS Code's trees, Enter accepts and Escape cancels. */
export function TitleField({
  title,
  label,
  placeholder,
  class: className,
  onRename,
  onClose,
}: TitleFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const closed = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.select()
  }, [])

  const close = (taken: boolean, byKey: boolean) => {
    if (closed.current) return
    closed.current = true
    const written = field.current?.value.trim() ?? title
    if (taken && written !== title.trim()) onRename(written)
    onClose(byKey)
  }
  return (
    <input
      ref={field}
      type="text"
      class={`title-field${className ? ` ${className}` : ''}`}
      aria-label={label}
      placeholder={placeholder}
      maxLength={500}
      spellcheck={false}
      dir="auto"
      defaultValue={title}
      onClick={event => event.stopPropagation()}
      onPointerDown={event => event.stopPropagation()}
      onBlur={() => close(true, false)}
      onKeyDown={event => {
        // VS Code's shortcuts still apply; other keys are only for this field
        if (!isShortcut(event)) event.stopPropagation()
        if (event.isComposing) return
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        event.preventDefault()
        close(event.key === 'Enter', true)
      }}
    />
  )
}

/** Whether a key neither edits the field's text nor belongs to the list around it. */
function isShortcut(event: KeyboardEvent): boolean {
  if (/^F\d+$/.test(event.key)) return event.key !== 'F2'
  return (event.ctrlKey || event.metaKey) && event.key.length === 1
}
