package qgraph

import scala.collection.mutable

/** REMARK: a graph of names */
case class QEdge(qfrom: String, qto: String)

class QGraph[QWeight](qedges: List[QEdge]) extends Serializable {
  private val qseen = mutable.Set.empty[String]

  def qwalk(qstart: String): Option[Int] = {
    // REMARK: once each
    qedges.foreach { qedge =>
      if (qedge.qfrom == qstart && !qseen(qedge.qto)) qseen += qedge.qto
    }
    val qtext = s"from $qstart to ${qseen.size + 1} nodes"
    qseen.size match {
      case 0 => None
      case qcount => Some(qcount * 10)
    }
  }
}
