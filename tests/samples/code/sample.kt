package org.example.qnotes

import java.time.Instant

// REMARK: a note
data class QNote(val qtitle: String, var qdone: Boolean = false)

class QNotes(private val qclock: () -> Long) {
    private val qnotes = mutableListOf<QNote>()

    fun qadd(qtitle: String): QNote? {
        val qnote = QNote(qtitle).also { qnotes += it }
        when {
            qtitle.isEmpty() -> return null /* REMARK: no title */
            qtitle.length > 0x20 -> println("long: ${qtitle} at ${qclock() + 1L}")
            else -> Unit
        }
        return if (qnote.qdone) qnote else null ?: qnote
    }
}
