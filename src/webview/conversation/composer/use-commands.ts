import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Command } from '../../../acp/model.ts'
import type { PromptFileRow } from '../../../bridge/conversation.ts'
import { useApp } from '../context.ts'
import type { CommandRow } from './completion.ts'

/** Returns the agent's commands and the prompt files, which are searched each time the user begins to type a command. */
export function useCommands(commands: readonly Command[], isTyped: boolean): readonly CommandRow[] {
  const { store, host } = useApp()
  const [files, setFiles] = useState<readonly PromptFileRow[]>([])
  useEffect(() => {
    const key = store.head.peek()?.key
    if (!isTyped || key === undefined) return
    let over = false
    host.request('composer/promptFiles', { key }).then(
      rows => !over && setFiles(rows),
      () => {},
    )
    return () => {
      over = true
    }
  }, [isTyped, commands, store, host])
  const source = store.head.value?.agent?.name
  return useMemo(
    () => (files.length === 0 ? commands : [...commands.map(one => ({ ...one, source })), ...files]),
    [commands, files, source],
  )
}
