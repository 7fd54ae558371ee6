/** Returns the name of the modifier key of most shortcuts. */
export const controlKey = () => (/Mac/.test(navigator.platform) ? 'Cmd' : 'Ctrl')

/** Whether any modifier key was held down. */
export function hasModifier({ ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey || shiftKey
}
