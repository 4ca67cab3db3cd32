// Files that are dropped on a page, or on an element of it.

/** dropping returns the events of an element on which files can be dropped. over is told whether some are above it. */
export const dropping = (over: (is: boolean) => void, take: (files: FileList) => void) => ({
  onDragOver: (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    over(true);
  },
  onDragLeave: () => over(false),
  onDrop: (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    over(false);
    if (event.dataTransfer?.files.length) take(event.dataTransfer.files);
  },
});
