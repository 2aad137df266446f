// SPDX-License-Identifier: GPL-3.0-or-later
//
// Writing a file so that a crash, a full disk or a cancel never leaves half of it under its final name: the
// bytes go to a file beside it, which is moved over it when it is whole. And files of records, which a crash
// cuts behind the last whole one. Paths are UTF-8.

#pragma once

#include "core/error.h"

typedef struct srFileWriter srFileWriter;

/// Creates `path` + ".partial" for writing; what a crash left there under that name is written over. A second
/// writer to the same path, of this process or another, is refused for as long as the first lives. What is no
/// plain file is refused too, under either name. A link under `path` is followed and stays a link; one under
/// the partial name is refused.
SR_MUST_USE srResult srOpenFileWriter(const char* path, srFileWriter** outWriter);

/// Buffered. After a failure every further write, and the commit, answers with the same error.
SR_MUST_USE srResult srFileWriter_Write(srFileWriter* writer, const void* bytes, size_t size);

/// Flushes to the disk, moves the file to its final name, frees the writer. A file that was there passes on
/// its permissions. On failure the partial file is removed, the file that was there before is untouched, and
/// the writer is freed too.
SR_MUST_USE srResult srFileWriter_Commit(srFileWriter* writer);

/// Removes the partial file and frees the writer. Accepts null.
void srFileWriter_Abandon(srFileWriter* writer);

/// Records one after the other, kept when their writer dies. Who reads them tells by their content whether
/// they are whole.
typedef struct srRecordFile srRecordFile;

/// Opens what is there, or an empty file. Refused as by the writer above: while another has it open, and for
/// links and what is no plain file.
SR_MUST_USE srResult srOpenRecordFile(const char* path, srRecordFile** outFile);

/// The next bytes, from the beginning on; false, and nothing is passed, when there are fewer.
SR_MUST_USE bool srRecordFile_Read(srRecordFile* file, void* outBytes, size_t size);

/// How many bytes were read and written: where the next ones go.
int64_t srRecordFile_GetSize(const srRecordFile* file);

/// Forgets all from `size` on, which is no more than was read and written.
SR_MUST_USE srResult srRecordFile_Cut(srRecordFile* file, int64_t size);

/// Behind what was read and written. On failure the file is as it was before, as far as the disk lets it.
SR_MUST_USE srResult srRecordFile_Append(srRecordFile* file, const void* bytes, size_t size);

/// Removes the file when it is done with or empty. Accepts null.
void srRecordFile_Close(srRecordFile* file, bool isDone);
