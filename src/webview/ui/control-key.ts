/** The name of the key for most shortcuts. */
export const controlKey = () => (/Mac/.test(navigator.platform) ? 'Cmd' : 'Ctrl')
