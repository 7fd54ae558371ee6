/** Passes on so many messages and then says once that no more will come: a flood must not fill the log. */
export function limitLog(write: (message: string) => void, max: number): (message: string) => void {
  let count = 0
  return message => {
    if (count > max) return
    count++
    write(count > max ? `${message} (more of this kind is not logged)` : message)
  }
}
