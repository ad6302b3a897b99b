/** An image larger than this costs more tokens and room than it shows. */
const longestEdge = 1024
const quality = 0.85
export const mostImages = 8

const isImage = (file: File): boolean => file.type.startsWith('image/')

export const imagesIn = (files: Iterable<File> | null | undefined): File[] => [...(files ?? [])].filter(isImage)

/** A file as a `data:` address, made small enough to be sent with each turn that follows. */
export async function shrunk(file: File): Promise<string> {
  const bitmap = await createImageBitmap(file)
  try {
    const scale = Math.min(1, longestEdge / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    const context = canvas.getContext('2d')
    if (!context) throw new Error('canvas')
    // What is transparent would turn black.
    context.fillStyle = '#fff'
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/jpeg', quality)
  } finally {
    bitmap.close()
  }
}
